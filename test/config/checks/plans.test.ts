import t from 'tap'
import { holdsEach } from '../cases.ts'
import { forwarded, publishing, token } from '../support.ts'

holdsEach(t, [
  {
    says: 'a rate is requests per time',
    refused: { plans: { gold: { rate: '100/s' } } },
    message:
      /plans\.gold\.rate: must be requests per period, such as 100\/1second or 5000\/2hours \(second, minute, hour or day\)/,
    accepted: { plans: { gold: { rate: '100/1second' } } },
  },
  {
    says: 'a plan counts by one of three algorithms',
    refused: { plans: { gold: { rate: '1/1second', algorithm: 'sliding' } } },
    message: /algorithm: must be strict, smooth or calendar/,
    accepted: { plans: { gold: { rate: '1/1second', algorithm: 'calendar' } } },
  },
  {
    says: 'how many come at once is for a smooth plan',
    refused: { plans: { gold: { rate: '100/1second', burst: 20 } } },
    message: /plans\.gold\.burst: a number of requests is only for algorithm: smooth, and this plan is strict/,
    accepted: { plans: { gold: { rate: '100/1second', algorithm: 'smooth', burst: 20 } } },
  },
  {
    says: 'a burst is at least one request',
    refused: { plans: { gold: { rate: '100/1second', algorithm: 'smooth', burst: 0 } } },
    message: /burst: must be a number of requests from 1 to .* \(second, minute, hour or day\)/,
    accepted: { plans: { gold: { rate: '100/1second', algorithm: 'smooth', burst: '1' } } },
  },
  {
    says: 'a burst limit must have a shorter period than the rate',
    refused: { plans: { gold: { rate: '1000/1minute', burst: '50/1minute' } } },
    message: /burst: a burst limit must have a shorter period than the rate/,
    accepted: { plans: { gold: { rate: '1000/1minute', burst: '50/59seconds' } } },
  },
  {
    says: 'a quota must have a longer period than the rate',
    refused: { plans: { gold: { rate: '100/60seconds', quota: '1000/1minute' } } },
    message: /quota: a quota must have a longer period than the rate/,
    accepted: { plans: { gold: { rate: '100/59seconds', quota: '1000/1minute' } } },
  },
  {
    says: 'a plan is hard or soft',
    refused: { plans: { gold: { rate: '1/1second', mode: 'shadow' } } },
    message: /mode: must be hard or soft/,
    accepted: { plans: { gold: { rate: '1/1second', mode: 'soft' } } },
  },
  {
    says: 'the name of a plan fits into a header and a label',
    refused: { plans: { 'the "gold"': { rate: '1/1second' } } },
    message: /^2:3: plans\..*: a name is 1 to 64 letters/,
    accepted: { plans: { 'the-gold': { rate: '1/1second' } } },
  },
  {
    says: 'a rate of its own is for an operation that exists',
    refused: {
      plans: { gold: { rate: '1/1second', operations: { 'POST /tokens': '1/1second' } } },
      ...publishing(token),
    },
    message: /^5:7: .*no operation has this method and full path; did you mean POST \/token\?/,
    accepted: {
      plans: { gold: { rate: '1/1second', operations: { 'POST /token': '1/1second' } } },
      ...publishing(token),
    },
  },
  {
    says: 'only an operation with a plan can have a rate of its own',
    refused: {
      plans: { gold: { rate: '1/1second', operations: { 'POST /token': '1/1second' } } },
      ...publishing({ ...token, plan: 'none' }),
    },
    message: /this operation is not limited/,
    accepted: {
      plans: { gold: { rate: '1/1second', operations: { 'POST /token': '1/1second' } } },
      ...publishing({ ...token, plan: 'client' }),
    },
  },
  {
    says: 'a rate of an operation is in the plan that limits the operation',
    refused: {
      plans: { gold: { rate: '1/1second', operations: { 'GET /items': '9/1second' } }, open: { rate: '1/1minute' } },
      ...publishing({ ...forwarded, credentials: 'none', plan: 'open' }),
    },
    message: /plans\.gold\..*this operation is limited by the plan open/,
    accepted: {
      plans: { gold: { rate: '1/1second' }, open: { rate: '1/1minute', operations: { 'GET /items': '9/1second' } } },
      ...publishing({ ...forwarded, credentials: 'none', plan: 'open' }),
    },
  },
])
