import { chunkCases } from './chunks.ts'
import { framingCases } from './framing.ts'
import { headerCases } from './header.ts'
import { hostCases } from './host.ts'
import { identityCases } from './identity.ts'
import { pipelineCases } from './pipeline.ts'
import type { RawCase } from './raw-case.ts'
import { requestLineCases } from './request-line.ts'
import { upgradeCases } from './upgrade.ts'

export const rawCases: readonly RawCase[] = [
  ...framingCases,
  ...chunkCases,
  ...requestLineCases,
  ...hostCases,
  ...headerCases,
  ...identityCases,
  ...upgradeCases,
  ...pipelineCases,
]
