import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { z } from 'zod'
import { settings } from '../src/config.ts'
import { routes } from '../src/http/api/routes.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

const fallback = (schema: z.ZodType) => {
  const { data } = z.safeParse(schema, undefined)
  return typeof data === 'string' || typeof data === 'number' ? `\`${data}\`` : ''
}
const rows = Object.entries(settings).map(
  ([name, schema]) => `| \`${name}\` | ${fallback(schema)} | ${schema.description ?? ''} |`,
)

describe('the README', () => {
  it('has a row for every setting, with its default and meaning, and none for any other', () => {
    const table = readme.match(/^\| `[A-Z_]+` +\|.*$/gm)?.map((row) => row.replaceAll(/ +/g, ' '))
    expect(table).to.deep.equal(rows.map((row) => row.replaceAll(/ +/g, ' ')))
  })

  it('names every endpoint', () => {
    for (const { method, path } of routes) expect(readme).to.include(`${method.toUpperCase()} ${path}\``)
  })
})
