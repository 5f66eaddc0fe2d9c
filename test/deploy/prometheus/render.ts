/**
 * Copies the rules after a change: `npx node test/deploy/prometheus/render.ts`. Run the chart's
 * `test/deploy/helm/render.ts` after it.
 */
import { writeFileSync } from 'node:fs'
import { copies } from './copies.ts'

for (const [file, text] of Object.entries(copies())) writeFileSync(file, text)
