import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type KubernetesObject, parseObjects } from './objects.ts'

export const kubernetes = join(import.meta.dirname, '../../../deploy/kubernetes')

/**
 * The objects that `kubectl apply -k` would send.
 * @param folder of a kustomization
 * @throws Error with the words of kubectl, where it refuses or warns
 */
export const renderKustomization = (folder: string): readonly KubernetesObject[] => {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
  if (status !== 0 || stderr !== '') throw new Error(`kubectl 1.27 or newer should render ${folder}: ${stderr}`)
  return parseObjects(stdout)
}

/**
 * The objects of an operator's own overlay over one of ours and a component.
 * @param folder an empty one
 * @param more lines of its kustomization.yaml
 */
export const renderWith = (
  folder: string,
  overlay: string,
  component: string,
  more = '',
): readonly KubernetesObject[] => {
  // kustomize wants a path without the root in it.
  const [ours, added] = [`overlays/${overlay}`, `components/${component}`].map(path =>
    relative(folder, join(kubernetes, path)),
  )
  writeFileSync(join(folder, 'kustomization.yaml'), `resources: [${ours}]\ncomponents: [${added}]\n${more}`)
  return renderKustomization(folder)
}
