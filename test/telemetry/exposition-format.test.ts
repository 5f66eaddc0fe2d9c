import t from 'tap'
import { chooseFormat } from '../../src/telemetry/exposition-format.ts'

const om = 'application/openmetrics-text'

const cases: readonly (readonly [says: string, accept: string | undefined, chosen: 'text' | 'openmetrics'])[] = [
  ['nothing is text', undefined, 'text'],
  ['whatever there is, is text', '*/*', 'text'],
  ['and so is whatever application there is', 'application/*', 'text'],
  ['OpenMetrics is for who names it', om, 'openmetrics'],
  ['in whatever case', 'Application/OpenMetrics-Text; Version=1.0.0', 'openmetrics'],
  ['of two that are worth the same it is that', `text/plain, ${om}`, 'openmetrics'],
  ['what is worth nothing is not wanted', `${om};q=0, text/plain`, 'text'],
  ['nor with a fraction of zeros', `${om};q=0.000`, 'text'],
  ['what is worth least is wanted', `${om};q=0.001`, 'openmetrics'],
  ['unless text is worth more', `${om};q=0.5, text/plain;q=0.6`, 'text'],
  ['as a range may be', `${om}; Q=0.5, text/*; q=0.6, */*;q=0.1`, 'text'],
  ['the more exact range counts', `${om};q=0.5, text/plain;q=0.4, */*;q=1`, 'openmetrics'],
  ['the best version counts', `${om};version=0.0.1;q=0, ${om};version=1.0.0;q=0.6, text/plain;q=0.5`, 'openmetrics'],
  ['a weight that is none is not heard', `${om};q=2, text/plain;q=0.1`, 'text'],
  ['a quoted text is no list', `${om};a="x, y;q=0", text/plain;q=0.9`, 'openmetrics'],
  ['a longer name is another', `${om}-2`, 'text'],
  [
    'Prometheus prefers OpenMetrics',
    `${om};version=1.0.0;escaping=allow-utf-8;q=0.6,${om};version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    'openmetrics',
  ],
]

for (const [says, accept, chosen] of cases) {
  t.test(`${says}: ${accept}`, async t => t.equal(chooseFormat(accept), chosen))
}
