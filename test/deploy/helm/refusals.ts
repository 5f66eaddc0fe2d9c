/** Values that the chart refuses, each good but for what it is named after, and words of what Helm says. */
export interface Refusal {
  readonly what: string
  /** As for `--set`. */
  readonly set: string
  readonly words: string
}

export const refusals: readonly Refusal[] = [
  {
    what: 'a grace period as long as the shutdown',
    set: 'terminationGracePeriodSeconds=30',
    words: 'more than the 30 seconds',
  },
  {
    what: 'a shutdown as long as the grace period',
    set: 'configuration.shutdown.timeout=35s',
    words: 'more than the 40 seconds',
  },
  {
    what: 'a service that waits too long before it ends',
    set: 'mode=sidecar,application.containers[0].name=a,application.containers[0].image=a:1.0.0,application.containers[0].lifecycle.preStop.sleep.seconds=10',
    words: 'more than the 40 seconds',
  },
  {
    what: 'services that wait too long before they end',
    set: 'mode=sidecar,application.containers[0].name=a,application.containers[0].image=a:1.0.0,application.preStopSeconds=10',
    words: 'more than the 40 seconds',
  },
  { what: 'a sidecar of no service', set: 'mode=sidecar', words: 'application.containers must have' },
  {
    what: 'a gateway with a service in its pods',
    set: 'application.containers[0].name=a,application.containers[0].image=a:1.0.0',
    words: 'are for mode sidecar',
  },
  {
    what: 'two monitors',
    set: 'podMonitor.enabled=true,serviceMonitor.enabled=true',
    words: 'keep one of the two',
  },
  { what: 'two stores', set: 'configuration.store=memory:', words: 'keep one of the two' },
  { what: 'a value that does not exist', set: 'replicaCount=3', words: 'replicaCount' },
  { what: 'a value of an image that does not exist', set: 'image.version=1', words: 'version' },
  { what: 'the tag latest', set: 'image.tag=latest', words: '/image/tag' },
  {
    what: 'an admin port that the kubelet cannot reach',
    set: 'configuration.admin=127.0.0.1:9090',
    words: '/configuration/admin',
  },
  { what: 'a shutdown in other units', set: 'configuration.shutdown.delay=1m', words: '/configuration/shutdown/delay' },
  { what: 'no limit of memory', set: 'resources.limits.memory=null', words: '/resources/limits' },
  {
    what: 'an autoscaler with more replicas at least than at most',
    set: 'autoscaling.minReplicas=5,autoscaling.maxReplicas=4',
    words: 'must not be more than autoscaling.maxReplicas',
  },
  { what: 'one port for clients and the kubelet', set: 'configuration.listen=0.0.0.0:9090', words: 'the same port' },
  {
    what: 'a label of the pods that the Deployment selects by',
    set: 'podLabels.app\\.kubernetes\\.io/name=other',
    words: "invalid propertyName 'app.kubernetes.io/name'",
  },
  { what: 'a label with a space in its value', set: 'podLabels.team=a b', words: '/podLabels/team' },
  {
    what: 'an annotation of the pods that the chart sets',
    set: 'podAnnotations.sidegate/restarts-with=never',
    words: "invalid propertyName 'sidegate/restarts-with'",
  },
  {
    what: 'a container with the name of the sidecar',
    set: 'mode=sidecar,application.containers[0].name=sidegate,application.containers[0].image=a:1.0.0',
    words: '/application/containers/0/name',
  },
  {
    what: 'a container with a name that is no DNS label',
    set: 'mode=sidecar,application.containers[0].name=My_App,application.containers[0].image=a:1.0.0',
    words: '/application/containers/0/name',
  },
  {
    what: 'two containers of one name',
    set: 'mode=sidecar,application.containers[0].name=a,application.containers[0].image=a:1.0.0,application.containers[1].name=a,application.containers[1].image=b:1.0.0',
    words: 'two containers named a',
  },
  { what: 'a volume with the name of one of the chart', set: 'volumes[0].name=config', words: 'a volume named config' },
  { what: 'a mode that does not exist', set: 'mode=daemon', words: '/mode' },
]
