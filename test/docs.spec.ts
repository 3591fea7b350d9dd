import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { z } from 'zod'
import { layers } from '../bin/layers.js'
import { settings } from '../src/config.ts'
import { routes } from '../src/http/routes.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const filesBelow = (dir: string) => readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...filesBelow('docs')
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
].filter((path) => existsSync(join(root, path)))
/** Records and the changelog describe the code as it was, so the files they name may be gone. */
const current = pages.filter((path) => !path.startsWith('docs/adr') && path !== 'CHANGELOG.md')

const withoutCode = (markdown: string) => markdown.replaceAll(/^```.*?^```/gms, '')
/** Returns the ids that GitHub gives the headings of a page. */
const anchorsOf = (markdown: string) =>
  [...withoutCode(markdown).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  )

const defaultOf = (schema: z.ZodType) => {
  const { data } = z.safeParse(schema, undefined)
  return typeof data === 'string' || typeof data === 'number' ? ` (default \`${data}\`)` : ''
}
const lines = Object.entries(settings).map(
  ([name, schema]) => `- \`${name}\`${defaultOf(schema)}: ${schema.description ?? ''}`,
)

/** Returns the titles in a spec, each in a line. A title with a placeholder has it. */
const titlesIn = (path: string) =>
  [...read(path).matchAll(/\b(?:it|describe)\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)]
    .map(([, , title = '']) => title.replaceAll(/\s+/g, ' ').replaceAll(/\\(.)/g, '$1'))
    .join('\n')

/** Returns what only one of two lists has: a difference of whole lists would hide it. */
const between = (documented: readonly (string | undefined)[], code: readonly string[]) => ({
  missing: code.filter((one) => !documented.includes(one)),
  unknown: documented.filter((one) => one === undefined || !code.includes(one)),
})
const same = { missing: [], unknown: [] }

describe('the documentation', () => {
  before(() => {
    if (!process.env['UPDATE_DOCS']) return
    const updated = lines.reduce(
      (page, line) => page.replace(new RegExp(`^${/^- `[A-Z_]+`/.exec(line)?.[0]}.*$`, 'm'), () => line),
      read('docs/configuration.md'),
    )
    writeFileSync(join(root, 'docs/configuration.md'), updated)
  })

  it('describes every setting as the code does, and no other', () => {
    const described = read('docs/configuration.md').match(/^- `[A-Z_]+`.*$/gm)
    expect(between(described ?? [], lines)).to.deep.equal(same)
    expect(described).to.have.length(lines.length)
  })

  it('names every endpoint of the API, and no other', () => {
    const endpoints = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    const named = [...read('docs/api.md').matchAll(/`((?:GET|POST|PUT|DELETE) [^`]*)`/g)].map(
      ([, endpoint]) => endpoint,
    )
    expect(between(named, endpoints)).to.deep.equal(same)
    expect(named).to.have.length(endpoints.length)
  })

  it('names only commands that the command line has', () => {
    const commands = [...read('docs/cli.md').matchAll(/^## linkledger (.+)$/gm)].map(([, name = '']) => name)
    for (const page of current)
      for (const [call, words = ''] of read(page).matchAll(/(?<=^|[\s`])linkledger ([a-z]+(?: [a-z]+)?)/gm)) {
        const exists = commands.some((name) => name.startsWith(words) || words.startsWith(`${name} `))
        expect(exists, `${page}: ${call}`).to.equal(true)
      }
  })

  it('shows the imports that the linter allows', () => {
    const rows = read('docs/architecture.md').matchAll(
      /^\| `([a-z/]+)` +\| ((?:`[a-z/.]+`(?:, )?)+|nothing of ours) +\|$/gm,
    )
    const table: Record<string, readonly string[]> = {}
    // a long list has two rows
    for (const [, folder = '', allowed = ''] of rows)
      table[folder] = [...(table[folder] ?? []), ...(allowed.match(/(?<=`)[a-z/.]+(?=`)/g) ?? [])]
    expect(table).to.deep.equal(layers)
  })

  it('has links that lead to existing files and headings', () => {
    for (const page of pages)
      for (const [link, target = ''] of withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue
        const [file = '', anchor] = target.split('#')
        const path = file === '' ? page : join(dirname(page), file)
        expect(existsSync(join(root, path)), `${page}: ${link}`).to.equal(true)
        if (anchor !== undefined) expect(anchorsOf(read(path)), `${page}: ${link}`).to.include(anchor)
      }
  })

  it('names only files and folders that exist', () => {
    for (const page of current)
      for (const [, path = ''] of read(page).matchAll(/`((?:src|test|docs|bench|\.ci)\/[\w./-]*)`/g))
        expect(existsSync(join(root, path)), `${page}: ${path}`).to.equal(true)
  })

  it('links every threat and fault, each with a number of its own, to tests that exist, by their titles', () => {
    const catalogues = {
      'docs/threats.md': /^### \d+\. .*?(?=^##|$(?!\n))/gms,
      'docs/faults.md': /^- \*\*\d+.*?(?=^- |^##|$(?!\n))/gms,
    }
    for (const [page, entry] of Object.entries(catalogues)) {
      const entries = read(page).match(entry) ?? []
      expect(entries.length, page).to.be.above(100)
      const numbers = entries.map((text) => /\d+/.exec(text)?.[0])
      expect(
        numbers.filter((number, i) => numbers.indexOf(number) !== i),
        page,
      ).to.deep.equal([])
      for (const text of entries) {
        const links = [...text.matchAll(/\[((?:\\.|[^[\]\\])+)\]\(\.\.\/(test\/[^)]+)\)/g)]
        expect(links.length, text).to.be.above(0)
        for (const [link, words = '', path = ''] of links)
          expect(titlesIn(path), `${page}: ${link}`).to.include(
            words.replaceAll(/\s+/g, ' ').replaceAll(/\\(.)/g, '$1'),
          )
      }
    }
  })

  it('has no table that is wider than 120 characters', () => {
    for (const page of pages)
      for (const row of read(page).match(/^\|.*$/gm) ?? []) expect(row.length, `${page}: ${row}`).to.be.at.most(120)
  })
})
