import t from 'tap'
import { chooseFormat } from '../../src/telemetry/exposition-format.ts'

const om = 'application/openmetrics-text'

const cases: readonly (readonly [says: string, accept: string | undefined, chosen: 'text' | 'openmetrics'])[] = [
  ['no Accept header selects text', undefined, 'text'],
  ['any type selects text', '*/*', 'text'],
  ['any application type selects text', 'application/*', 'text'],
  ['the name of OpenMetrics selects it', om, 'openmetrics'],
  ['the case of the name does not matter', 'Application/OpenMetrics-Text; Version=1.0.0', 'openmetrics'],
  ['OpenMetrics wins if both have the same weight', `text/plain, ${om}`, 'openmetrics'],
  ['a weight of 0 excludes a type', `${om};q=0, text/plain`, 'text'],
  ['a weight of 0.000 excludes a type', `${om};q=0.000`, 'text'],
  ['the smallest weight above 0 selects a type', `${om};q=0.001`, 'openmetrics'],
  ['text wins if its weight is larger', `${om};q=0.5, text/plain;q=0.6`, 'text'],
  ['a range with the larger weight selects text', `${om}; Q=0.5, text/*; q=0.6, */*;q=0.1`, 'text'],
  ['the more exact range counts', `${om};q=0.5, text/plain;q=0.4, */*;q=1`, 'openmetrics'],
  ['the best version counts', `${om};version=0.0.1;q=0, ${om};version=1.0.0;q=0.6, text/plain;q=0.5`, 'openmetrics'],
  ['an invalid weight is ignored', `${om};q=2, text/plain;q=0.1`, 'text'],
  ['a quoted string is not split at its commas', `${om};a="x, y;q=0", text/plain;q=0.9`, 'openmetrics'],
  ['a longer name is a different type', `${om}-2`, 'text'],
  [
    'Prometheus prefers OpenMetrics',
    `${om};version=1.0.0;escaping=allow-utf-8;q=0.6,${om};version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    'openmetrics',
  ],
]

for (const [says, accept, chosen] of cases) {
  t.test(`${says}: ${accept}`, async t => t.equal(chooseFormat(accept), chosen))
}
