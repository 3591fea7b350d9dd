import { expect } from 'chai'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { run } from '../../src/cli/run.ts'
import { startTestApp, type TestApp } from '../support/app.ts'

type Own = Awaited<ReturnType<TestApp['register']>>

describe('linkledger import', () => {
  let app: TestApp
  let dir: string
  before(async () => {
    app = await startTestApp()
    dir = await mkdtemp(join(tmpdir(), 'linkledger-move-in-'))
  })
  after(async () => {
    await app.close()
    await rm(dir, { recursive: true, force: true })
  })

  const command = async ({ key }: Own, args: readonly string[], text?: string) => {
    const printed: string[] = []
    const print = (line: string) => void printed.push(line)
    const input = Readable.from([Buffer.from(text ?? '')])
    const variables = { LINKLEDGER_KEY: key }
    const code = await run(['import', ...args, '--to', app.address], { variables, print, printError: print, input })
    return { code, text: printed.join('\n') }
  }
  const links = async (own: Own) =>
    (await app.get('/api/urls?limit=100&archived=all&fields=alias,longurl,clicks,date,title,tags', own)).json['data']
      .urls as { alias: string; longurl: string; clicks: number; date: string; title: string; tags: string[] }[]

  const bitly = [
    'long_url,link,title,created_at',
    'https://example.com/newer,https://bit.ly/newer,Newer,2023-05-01T10:00:00+0000',
    'https://example.com/older,https://bit.ly/older,"Older, one",2021-02-03T04:05:06+0000',
  ].join('\n')
  const kutt = JSON.stringify({
    total: 2,
    data: [
      {
        id: 'b1f3a1f0-0000-4000-8000-000000000001',
        address: 'spring',
        target: 'https://example.com/spring',
        link: 'https://kutt.example/spring',
        description: 'Spring sale',
        visit_count: 1200,
        password: false,
        created_at: '2022-01-01T00:00:00.000Z',
      },
      {
        id: 'b1f3a1f0-0000-4000-8000-000000000002',
        address: 'secret',
        target: 'https://example.com/secret',
        link: 'https://kutt.example/secret',
        visit_count: 3,
        password: true,
        created_at: '2022-02-01T00:00:00.000Z',
      },
    ],
  })

  it('creates the links of an export with their dates, oldest first, and again changes nothing', async () => {
    const own = await app.register()
    const first = await command(own, ['auto', '-'], bitly)
    expect(first, first.text).to.include({ code: 0 })
    expect(first.text).to.contain('Created 2, renamed 0, there already 0, skipped 0, failed 0.')
    expect((await links(own)).map(({ alias, date, longurl, title }) => [alias, date, longurl, title])).to.deep.equal([
      ['newer', '2023-05-01 10:00:00', 'https://example.com/newer', 'Newer'],
      ['older', '2021-02-03 04:05:06', 'https://example.com/older', 'Older, one'],
    ])
    const again = await command(own, ['bitly', '-'], `${bitly}\n`)
    expect(again.text).to.contain('Created 0, renamed 0, there already 2, skipped 0, failed 0.')
    expect(await links(own)).to.have.length(2)
  })

  it('imports counts, and protects links that had a password', async () => {
    const own = await app.register()
    const { code, text } = await command(own, ['kutt', '-'], kutt)
    expect(code, text).to.equal(0)
    expect(text).to.contain('Its password is not known: set a new one.')
    const found = Object.fromEntries((await links(own)).map((one) => [one.alias, one]))
    expect(found['spring'], text).to.include({ clicks: 1200, date: '2022-01-01 00:00:00' })
    expect((await app.visit('/spring')).status).to.equal(302)
    expect((await app.visit('/secret')).status, 'asks for the password').to.equal(200)
  })

  it('stores nothing in a dry run, and writes the result for each link to a file', async () => {
    const own = await app.register()
    const file = join(dir, 'export.csv')
    const report = join(dir, 'report.csv')
    await writeFile(file, 'short,url,wish\nhttps://x.example/dry-1,https://example.com/1,\n,not an address,\n')
    const { code, text } = await command(own, ['csv', file, '--dry-run', '--report', report])
    expect(code, 'one failed').to.equal(1)
    expect(text).to.contain('Of the links, 1 failed')
    expect(text).to.contain('Would create 1, renamed 0, there already 0, skipped 0, failed 1.')
    expect(await links(own)).to.deep.equal([])
    expect(await readFile(report, 'utf8'))
      .to.contain('dry-1,https://example.com/1,created')
      .and.contain('failed')
  })

  it('follows its option when an alias is taken: it skips the link, renames it, or ends', async () => {
    const [other, own] = [await app.register(), await app.register()]
    await app.post('/api/url/add', { ...other, body: { url: 'https://example.com/other', custom: 'wanted' } })
    const csv = 'alias,url\nwanted,https://example.com/own\nadmin,https://example.com/reserved\n'
    expect((await command(own, ['csv', '-'], csv)).text).to.contain('Created 0, renamed 0, there already 0, skipped 2')
    const failed = await command(own, ['csv', '-', '--on-conflict', 'fail'], csv)
    expect([failed.code, failed.text.includes('conflict. That alias is taken.')]).to.deep.equal([1, true])
    const renamed = await command(own, ['csv', '-', '--on-conflict', 'rename'], csv)
    expect(renamed.text).to.contain('Created 0, renamed 2,')
    expect((await links(own)).find(({ longurl }) => longurl.endsWith('/own'))?.alias).to.equal('wanted-2')
  })

  it('skips links that their service has banned', async () => {
    const own = await app.register()
    const of = { target: 'https://example.com', created_at: '2024-01-01T00:00:00.000Z', domain: null }
    const data = [true, false].map((banned) => ({ ...of, id: `i${banned}`, address: `kutt-${banned}`, banned }))
    const { text } = await command(own, ['kutt', '-'], JSON.stringify({ total: 2, limit: 50, skip: 0, data }))
    expect(text).to.contain('It is banned there.').and.to.contain('Created 1, renamed 0, there already 0, skipped 1')
    expect((await links(own)).map(({ alias }) => alias)).to.deep.equal(['kutt-false'])
  })

  it('skips ended links, and names fields without a counterpart', async () => {
    const own = await app.register()
    const csv =
      'alias,url,expires_at,tags\nover,https://example.com/over,2020-01-01,\nlabel,https://example.com/label,,a|b\n'
    const { text } = await command(own, ['csv', '-'], csv)
    expect(text).to.contain('It has ended there.').and.to.contain('Created 1, renamed 0, there already 0, skipped 1')
    expect((await links(own)).map(({ alias, tags }) => [alias, tags])).to.deep.equal([['label', ['a', 'b']]])
  })

  it('names the error of the command, the key or the file', async () => {
    const own = await app.register()
    expect((await command(own, ['yahoo', '-'], '')).text).to.contain('the format must be one of auto, bitly')
    expect((await command(own, ['auto', '-', '--domain', 'x='], '')).text).to.contain('`domain` must be pairs such as')
    expect((await command({ ...own, key: 'll_wrong' }, ['bitly', '-'], bitly)).text).to.contain('answered 401')
    expect(await command(own, ['auto', '-'], 'no links at all')).to.include({ code: 1 })
    const report = await command(own, ['bitly', '-', '--report', join(dir, 'missing', 'report.csv')], bitly)
    expect([report.code, report.text.includes('cannot be written (ENOENT)')]).to.deep.equal([1, true])
  })
})
