/** `npm run docs`: writes the generated tables of docs/, each between `<!-- generated: NAME -->` and `<!-- end -->`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { regenerate } from './generate/tables.ts'
import { readPages, root } from './markdown.ts'

for (const { path, text } of readPages('docs')) {
  const written = await regenerate(text)
  if (written === text) continue
  writeFileSync(join(root, path), written)
  console.log(path)
}
