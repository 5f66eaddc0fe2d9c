import t from 'tap'
import { newTraceSampler } from '../../src/app/tracer.ts'

const low = `${'a'.repeat(18)}${'0'.repeat(14)}`
const high = `${'a'.repeat(18)}${'e'.repeat(14)}`

t.test(
  'if the gateway starts a trace and exports nothing, the sampled flag that it sends follows the sampler',
  async t => {
    const cases = [
      [{}, [true, true]],
      [{ OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, [true, true]],
      [{ OTEL_TRACES_SAMPLER: 'always_off' }, [false, false]],
      [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' }, [false, true]],
      [{ OTEL_TRACES_SAMPLER: 'always_off', OTEL_SDK_DISABLED: 'true' }, [true, true]],
    ] as const

    for (const [env, expected] of cases) {
      const sample = newTraceSampler(env)
      t.same([low, high].map(sample), expected, JSON.stringify(env))
    }
  },
)

t.test('an unknown sampler ends the start', async t => {
  t.throws(() => newTraceSampler({ OTEL_TRACES_SAMPLER: 'sometimes' }), /^OTEL_TRACES_SAMPLER must be always_on/)
})
