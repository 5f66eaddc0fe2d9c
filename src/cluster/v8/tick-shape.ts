import { createHook } from 'node:async_hooks'

const kept: object[] = []

/**
 * Keeps one of the objects that Node makes for every `process.nextTick`, of which a request takes several. When none is alive
 * at a full collection, V8 forgets the shape they share and learns it anew, and after a few times no more: from then on each
 * tick costs half a microsecond, which is six times as much. So it comes first, before a start has collected anything.
 */
export const keepTickShape = (): void => {
  const hook = createHook({
    init: (_asyncId, type, _triggerAsyncId, resource) => {
      if (type === 'TickObject') kept.push(resource)
    },
  })
  hook.enable()
  process.nextTick(() => undefined)
  hook.disable()
}
