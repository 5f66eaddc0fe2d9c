import { join } from 'node:path'
import { z } from 'zod'
import { loadConfig, type SidegateConfig } from '../../../src/config/load.ts'
import type { KubernetesObject } from './objects.ts'
import type { Workload } from './workload.ts'

const content = z.object({ data: z.record(z.string(), z.string()) })

/**
 * The configuration as Sidegate would read it in its pod: its file and those that it names are looked for where the pod
 * mounts ConfigMaps and Secrets, and nowhere else.
 * @throws Error with all problems, where Sidegate would not start
 */
export const loadMountedConfiguration = async (
  workload: Workload,
  objects: readonly KubernetesObject[],
): Promise<SidegateConfig> => {
  const files = mountedFiles(workload, objects)
  const env = Object.fromEntries(workload.sidegate.env.map(({ name, value }) => [name, value]))
  const loaded = await loadConfig('/etc/sidegate/sidegate.yaml', env, undefined, async path => {
    const text = files.get(path)
    if (text === undefined) throw Object.assign(new Error(`${path} is not mounted`), { code: 'ENOENT' })
    return text
  })
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('\n'))
  return loaded.config
}

/** The files in Sidegate's folders, by path. */
const mountedFiles = (
  { pod, sidegate }: Workload,
  objects: readonly KubernetesObject[],
): ReadonlyMap<string, string> => {
  const files = new Map<string, string>()
  for (const { name, mountPath } of sidegate.volumeMounts) {
    const volume = pod.volumes.find(found => found.name === name)
    const configMap = contentOf(objects, 'ConfigMap', volume?.configMap?.name)
    for (const [file, text] of configMap) files.set(join(mountPath, file), text)
    const secret = contentOf(objects, 'Secret', volume?.secret?.secretName)
    for (const [file, text] of secret) files.set(join(mountPath, file), Buffer.from(text, 'base64').toString())
  }
  return files
}

const contentOf = (
  objects: readonly KubernetesObject[],
  kind: string,
  name: string | undefined,
): [string, string][] => {
  const object = objects.find(found => found.kind === kind && found.metadata.name === name)
  return object === undefined ? [] : Object.entries(content.parse(object).data)
}
