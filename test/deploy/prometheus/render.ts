/** Copies the rules anew after a change: `npx node test/deploy/prometheus/render.ts`, then the chart's `test/deploy/helm/render.ts`. */
import { writeFileSync } from 'node:fs'
import { copies } from './copies.ts'

for (const [file, text] of Object.entries(copies())) writeFileSync(file, text)
