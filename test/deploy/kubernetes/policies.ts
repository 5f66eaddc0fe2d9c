/** The rules for every rendered pod: the restricted standard of Kubernetes, and some more. */
import { type Container, isSidecar, type Workload } from './workload.ts'

/** Names what is wrong, or nothing where all is in order. */
type Policy = (workload: Workload) => readonly string[]

/** Everything that breaks a policy, each with the container's name. */
export const findPolicyProblems = (workload: Workload): readonly string[] =>
  policies.flatMap(policy => policy(workload))

const everyContainer =
  (what: string, isFine: (container: Container, workload: Workload) => boolean): Policy =>
  workload =>
    [...workload.pod.initContainers, ...workload.pod.containers]
      .filter(container => !isFine(container, workload))
      .map(({ name }) => `${name} ${what}`)

const everyPod =
  (what: string, isFine: (workload: Workload) => boolean): Policy =>
  workload =>
    isFine(workload) ? [] : [`the pod ${what}`]

const policies: readonly Policy[] = [
  everyContainer(
    'may be root',
    ({ securityContext }, { pod }) =>
      (securityContext.runAsNonRoot ?? pod.securityContext.runAsNonRoot) === true &&
      (securityContext.runAsUser ?? pod.securityContext.runAsUser ?? 0) > 0,
  ),
  everyContainer('writes to its image', ({ securityContext }) => securityContext.readOnlyRootFilesystem === true),
  everyContainer(
    'may gain privileges',
    ({ securityContext }) => securityContext.allowPrivilegeEscalation === false && securityContext.privileged !== true,
  ),
  everyContainer(
    'keeps a capability',
    ({ securityContext: { capabilities } }) =>
      capabilities?.drop.includes('ALL') === true && capabilities.add.length === 0,
  ),
  everyContainer(
    'makes any system call',
    ({ securityContext }, { pod }) =>
      (securityContext.seccompProfile ?? pod.securityContext.seccompProfile)?.type === 'RuntimeDefault',
  ),
  everyContainer('has an image of no version', ({ image }) =>
    /(:v?\d+\.\d+\.\d+(-[a-z]+)?|@sha256:[0-9a-f]{64})$/.test(image),
  ),
  everyContainer('does not say what it needs', ({ resources }) =>
    ['cpu', 'memory'].every(resource => resources?.requests[resource] !== undefined),
  ),
  everyContainer('takes any amount of memory', ({ resources }) => resources?.limits.memory !== undefined),
  everyContainer('has no readiness probe', ({ readinessProbe }) => readinessProbe !== undefined),
  everyContainer('mounts what is never updated', ({ volumeMounts }) =>
    volumeMounts.every(({ subPath }) => subPath === undefined),
  ),
  everyContainer('may write to its configuration', ({ volumeMounts }, { pod }) =>
    volumeMounts.every(
      ({ name, readOnly }) => readOnly || !isFromCluster(pod.volumes.find(found => found.name === name)),
    ),
  ),
  everyContainer('has a secret in its environment', ({ env }) =>
    env.every(({ name, value }) => value !== undefined && !/SECRET|PASSWORD|TOKEN/.test(name)),
  ),
  everyPod('has a token of the cluster', ({ pod }) => !pod.automountServiceAccountToken),
  everyPod(
    'is on its node',
    ({ pod }) => !pod.hostNetwork && !pod.hostPID && pod.volumes.every(found => !('hostPath' in found)),
  ),
  everyPod('shows its secrets to every user', ({ pod }) =>
    pod.volumes.every(({ secret }) => secret === undefined || ((secret.defaultMode ?? 0o644) & 0o007) === 0),
  ),
  everyPod('begins with what ends, or holds up the end', workload => !isSidecar(workload) || isGoodSidecar(workload)),
]

const isFromCluster = (volume: Workload['pod']['volumes'][number] | undefined): boolean =>
  volume?.configMap !== undefined || volume?.secret !== undefined

/** The services wait until no node sends to the pod any more; Sidegate ends after them and waits for nothing. */
const isGoodSidecar = ({ sidegate, services }: Workload): boolean =>
  sidegate.restartPolicy === 'Always' &&
  sidegate.lifecycle === undefined &&
  services.length > 0 &&
  services.every(({ lifecycle }) => (lifecycle?.preStop.sleep.seconds ?? 0) > 0)
