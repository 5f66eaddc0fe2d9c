import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { type Page, readPage, readPages, root, withoutBlocks } from './markdown.ts'

const pages = readPages()

/** The anchor that a heading gets, by GitHub's rule. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const anchorsOf = ({ text }: Page): readonly string[] =>
  [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

const linksOf = ({ text }: Page): readonly string[] =>
  [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter(link => !/^[a-z]+:/.test(link))

/** Code spans and words of code blocks that name a file or a folder of the project. */
const projectPath = /(?<![\w./<>$-])(?:src|test|config|deploy|docs|\.ci)\/[\w./-]*\w/g

const pathsOf = ({ text }: Page): readonly string[] => [...text.matchAll(projectPath)].map(([path]) => path)

t.ok(pages.length >= 4, 'there are pages')

for (const page of pages) {
  t.test(`every link of ${page.path} leads somewhere`, async t => {
    const lost = linksOf(page).filter(link => {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page.path : normalize(join(dirname(page.path), path))
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchorsOf(readPage(target)).includes(anchor)
    })

    t.same(lost, [])
  })

  t.test(`every path that ${page.path} names exists`, async t => {
    // A path is named from the root or from the page's own folder.
    const from = [root, join(root, dirname(page.path))]
    t.same(
      pathsOf(page).filter(path => !from.some(folder => existsSync(join(folder, path)))),
      [],
    )
  })
}

t.test('every page of the documentation is linked from its index', async t => {
  const index = readPage('docs/README.md')
  const linked = new Set(linksOf(index).map(link => normalize(join('docs', link))))

  t.same(
    readPages('docs')
      .map(({ path }) => path)
      .filter(path => path !== index.path && !linked.has(path)),
    [],
  )
})

t.test('the README has at most 300 lines', async t => {
  t.ok(readPage('README.md').text.trimEnd().split('\n').length <= 300)
})

t.test('every file that the map of the code names exists', async t => {
  const named = [...readPage('src/README.md').text.matchAll(/`?\b([a-z-]+(?:\/[a-z-]+)+)(?:\.ts)?\b/g)]
    .map(([, path = '']) => path)
    .filter(path => /^(?:cli|cluster|config|demo|gateway|http|oauth|plans|stores|telemetry)\//.test(path))
  const exists = (path: string): boolean =>
    ['', '.ts', '.md'].some(suffix => existsSync(join(root, 'src', path + suffix))) || existsSync(join(root, path))

  t.ok(named.length > 10, 'it names files')
  t.same(
    named.filter(path => !exists(path)),
    [],
  )
})
