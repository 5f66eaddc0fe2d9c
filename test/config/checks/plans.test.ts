import t from 'tap'
import { holdsEach } from '../cases.ts'
import { publishing, token } from '../support.ts'

holdsEach(t, [
  {
    says: 'a rate is requests per time',
    refused: { plans: { gold: { rate: '100/s' } } },
    message: /plans\.gold\.rate: must be requests per time/,
    accepted: { plans: { gold: { rate: '100/1second' } } },
  },
  {
    says: 'a plan counts strictly',
    refused: { plans: { gold: { rate: '1/1second', algorithm: 'smooth' } } },
    message: /algorithm: must be strict; this release has no other/,
    accepted: { plans: { gold: { rate: '1/1second', algorithm: 'strict' } } },
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
    says: 'a rate of its own is for an operation that is limited',
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
])
