import { readdir, readFile, writeFile } from 'node:fs/promises'
import { expect } from 'chai'
import { projections } from '../../src/projections/index.ts'
import type { Projection } from '../../src/projections/engine/projection.ts'
import { type Fingerprint, fingerprintOf, withoutFormat } from '../support/fingerprint.ts'

type Entry = Fingerprint & { readonly version: number }
type List = Readonly<Record<string, Entry>>

const folder = new URL('../../src/projections/', import.meta.url)
const list = new URL('./fingerprints.json', import.meta.url)
const update = process.env['UPDATE_FINGERPRINTS']
const command = 'npx mocha test/projections/fingerprints.spec.ts'

/** Returns the file of a projection: the one that has its name. */
const fileOf = async ({ name }: Projection) => {
  const parts = (await readdir(folder, { recursive: true }))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => new URL(file, folder))
  for (const part of parts) if ((await readFile(part, 'utf8')).includes(`\n  name: '${name}',\n`)) return part
  throw new Error(`no file has the projection ${name}`)
}

/** Returns what is wrong with an entry of the list, and what to do about it. */
const problemOf = ({ name, version }: Projection, before: Entry | undefined, now: Entry): string | undefined => {
  if (JSON.stringify(before) === JSON.stringify(now)) return undefined
  if (!before || version > before.version)
    return `\`${name}\` is new, or its version is: enter it with UPDATE_FINGERPRINTS=1 ${command}`
  if (version < before.version) return `the version of \`${name}\` went down from ${before.version} to ${version}`
  const what = before.code === now.code ? 'the schema of an event that it handles' : 'its code'
  return (
    `\`${name}\` has changed (${what}), but its version is still ${version}. If its tables or the rows of any event are different now, raise ` +
    `\`version\` in its file, so that they are filled again, then run UPDATE_FINGERPRINTS=1 ${command}. ` +
    `If every row stays the same, run UPDATE_FINGERPRINTS=same-rows ${command}`
  )
}

describe('the versions of projections', () => {
  const format = (entries: List) =>
    `{\n${Object.entries(entries)
      .map(
        ([name, { version, code, events }]) =>
          `  "${name}": { "version": ${version}, "code": "${code}", "events": "${events}" }`,
      )
      .join(',\n')}\n}\n`

  it('go up when handlers, SQL or the schema of an event change', async () => {
    const before = JSON.parse(await readFile(list, 'utf8')) as List
    const now: Record<string, Entry> = {}
    for (const projection of projections)
      now[projection.name] = { version: projection.version, ...(await fingerprintOf(await fileOf(projection))) }
    const problems = projections.flatMap((one) => problemOf(one, before[one.name], now[one.name]!) ?? [])
    const refused = problems.filter((problem) => update !== 'same-rows' && !problem.includes('is new'))
    if (update && refused.length === 0) await writeFile(list, format(now))
    else expect(problems).to.deep.equal([])
    expect(await readFile(list, 'utf8')).to.equal(format(now))
  })

  it('are not affected by the format of the code and its comments', () => {
    const code = "const a = [\n  'x', // why\n  `select  1\n    from t`,\n];\n/** Returns b. */\nconst b = (c) => a"
    const same = 'const a = ["x", `select 1 from t`]\nconst b = (c) => a\n'
    expect(withoutFormat(code)).to.equal(withoutFormat(same))
    expect(withoutFormat(code)).not.to.equal(withoutFormat(same.replace('from t', 'from u')))
    expect(withoutFormat(code)).not.to.equal(withoutFormat(same.replace('"x"', '"x "')))
  })

  const links = projections.find(({ name }) => name === 'links')!
  const entry = { version: 2, code: 'a', events: 'b' }
  const problem = (before: Entry | undefined, now: Entry) => problemOf({ ...links, version: now.version }, before, now)

  it('must be raised with a change, which the message explains', () => {
    expect(problem(entry, entry)).to.equal(undefined)
    expect(problem(entry, { ...entry, code: 'c' })).to.include(
      '`links` has changed (its code), but its version is still 2',
    )
    expect(problem(entry, { ...entry, events: 'c' })).to.include('(the schema of an event that it handles)')
    expect(problem(entry, { ...entry, version: 3, code: 'c' })).to.include('is new')
    expect(problem(entry, { ...entry, version: 1 })).to.include('went down from 2 to 1')
  })
})
