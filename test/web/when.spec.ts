import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApi } from '../../src/http/docs/openapi.ts'
import { routes } from '../../src/http/routes.ts'

const folder = 'src/web'
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ name, code: readFileSync(join(folder, name), 'utf8') }))
const filesWith = (pattern: RegExp) => files.filter(({ code }) => pattern.test(code)).map(({ name }) => name)

/** Where a moment can only be a text, and why. */
const texts: Readonly<Record<string, string>> = {
  'core/time.ts': 'makes it',
  'parts/when.tsx': 'shows it',
  'parts/timeline.tsx': 'what a slider is at; buttons whose title has the moment in UTC',
  'screens/statistics/chart.tsx': 'a drawing, whose tip has the moment in UTC',
  'screens/statistics/figures.tsx': 'the name of a link, beside the moment itself',
  'screens/statistics/through.tsx': 'compares days',
  'screens/accounts/keyform.tsx': 'an option of a list to choose from',
  'core/api.ts': 'part of what the API says is wrong',
}

/** Returns the names of the fields of answers that are times in UTC. */
const timeFields = (): ReadonlySet<string> => {
  const found = new Set<string>()
  const walk = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return
    const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, { pattern?: string }>> }
    for (const [name, { pattern }] of Object.entries(properties))
      if (pattern?.includes(String.raw`\d{4}-\d\d-\d\d \d\d`)) found.add(name)
    Object.values(schema).forEach(walk)
  }
  walk(openApi({ routes, version: '' }))
  return found
}

describe('moments on screens', () => {
  it('are formatted in one place', () => {
    expect(
      filesWith(
        /toLocale(?:Date|Time)String|toLocaleString\((?!locale\(\), \{ maximum)|DateTimeFormat\((?!\)\.resolved)/,
      ),
    ).to.deep.equal(['core/time.ts'])
    expect(filesWith(/<time\b/)).to.deep.equal(['parts/when.tsx'])
  })

  it('are texts without UTC only where nothing else can be', () => {
    expect(filesWith(/\bmomentText\b/).toSorted()).to.deep.equal(Object.keys(texts).toSorted())
  })

  it('are never shown as the API writes them', () => {
    // these may be other things, too
    const names = [...timeFields()].filter((name) => !['at', 'from', 'to', 'sent', 'asked'].includes(name))
    expect(names).to.include.members(['date', 'expires', 'lastused', 'registered'])
    const asIs = new RegExp(`[>\\s]\\{(?:\\w+\\.)?(?:${names.join('|')})\\}|cell: [^=]*=> (?:${names.join('|')})\\b`)
    expect(filesWith(asIs)).to.deep.equal([])
  })
})
