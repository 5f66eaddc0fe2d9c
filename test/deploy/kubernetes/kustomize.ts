import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type KubernetesObject, parseObjects } from './objects.ts'

export const kubernetes = join(import.meta.dirname, '../../../deploy/kubernetes')

/**
 * What `kubectl apply -k` would send.
 * @param folder of a kustomization
 * @throws Error with the words of kubectl, where it refuses or warns
 */
export const renderKustomization = (folder: string): readonly KubernetesObject[] => {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
  if (status !== 0 || stderr !== '') throw new Error(`kubectl 1.27 or newer should render ${folder}: ${stderr}`)
  return parseObjects(stdout)
}
