import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import type { Context } from 'mocha'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { skip } from '../../support/skip.ts'
import { appendClicks } from '../../support/stream.ts'

const page = new URL('../../../docs/streams.md', import.meta.url)
const duckdb = new URL('../../support/duckdb.mjs', import.meta.url).pathname
const run = promisify(execFile)

/** The examples of docs/streams.md, run as they are printed there. */
describe('loading a stream of clicks elsewhere', () => {
  let app: TestApp
  let dir: string
  let env: Readonly<Record<string, string>>

  const blockWith = async (word: string) => {
    const blocks = [...(await readFile(page, 'utf8')).matchAll(/^```(sh|python)\n(.*?)^```/gms)]
    const found = blocks.find(([, , code = '']) => code.includes(word))
    if (!found) throw new Error(`docs/streams.md has no example with ${word}`)
    return { language: found[1], code: found[2]! }
  }
  const runExample = async (word: string) => {
    const { language, code } = await blockWith(word)
    const [command, flag] = language === 'python' ? ['python3', '-c'] : ['sh', '-c']
    return (await run(command, [flag, code], { cwd: dir, env: { ...process.env, ...env }, maxBuffer: 1e8 })).stdout
  }
  const needs = async (context: Context, command: string, args: readonly string[], remedy: string) => {
    const works = await run(command, args).catch(() => undefined)
    if (!works) skip(context, `there is no ${command} with ${args.join(' ')}`, remedy)
  }

  before(async () => {
    app = await startTestApp()
    dir = await mkdtemp(join(tmpdir(), 'linkledger-load-'))
    const { key, id } = await app.register()
    env = { SERVICE: app.address, KEY: key, PATH: `${dir}${delimiter}${process.env['PATH'] ?? ''}` }
    const clicks = Array.from({ length: 300 }, (_, n) => ({
      account: id,
      link: 1 + (n % 3),
      visitor: (n % 50).toString(16),
      ...(n % 10 === 0 ? { class: 'bot' } : {}),
      ...(n % 7 === 0 ? { referrer: 'quotes".example, and\nlines' } : {}),
    }))
    await appendClicks(app.app.ledger.store, clicks.slice(0, 120), clicks.slice(120))
    const last = () => app.get('/api/clicks', { key })
    await until(last, ({ text }) => text.split('\n').length > 300)
  })
  after(async () => {
    await app.close()
    await rm(dir, { recursive: true, force: true })
  })

  /** the people of 300 clicks, of which every tenth is a bot's */
  const expected = [1, 2, 3].map((link) => ({ link: String(link), clicks: '90', visitors: '45' }))
  const texts = (rows: readonly object[]) =>
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])))

  it('works with curl piped into DuckDB', async function () {
    await needs(
      this,
      process.execPath,
      [duckdb, '-json', '-c', 'select 1'],
      'npm install --prefix .cache/duckdb --no-save @duckdb/node-api to run it',
    )
    const command = join(dir, 'duckdb')
    await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${duckdb}' "$@"\n`)
    await chmod(command, 0o755)
    expect(texts(JSON.parse(await runExample('duckdb')) as object[])).to.deep.equal(expected)
  })

  it('works with CSV, which has the same clicks', async () => {
    await runExample('clicks.csv')
    const rows = parse(await readFile(join(dir, 'clicks.csv')), { columns: true }) as Readonly<Record<string, string>>[]
    expect(rows).to.have.length(300)
    expect(rows.filter((row) => row['class'] === 'human')).to.have.length(270)
    expect(rows[0]).to.include({ referrer: 'quotes".example, and\nlines', browser: 'Firefox', source: 'link' })
  })

  it('works with ClickHouse', async function () {
    await needs(this, 'clickhouse', ['local', '--version'], 'install clickhouse to run it')
    const rows = (await runExample('clickhouse local')).trimEnd().split('\n')
    expect(texts(rows.map((row) => JSON.parse(row) as object))).to.deep.equal(expected)
  })

  it('works with pandas', async function () {
    await needs(this, 'python3', ['-c', 'import pandas'], 'pip install pandas to run it')
    const { count, nunique } = JSON.parse(await runExample('pandas')) as Readonly<Record<string, object>>
    expect([count, nunique]).to.deep.equal([
      { 1: 90, 2: 90, 3: 90 },
      { 1: 45, 2: 45, 3: 45 },
    ])
  })
})
