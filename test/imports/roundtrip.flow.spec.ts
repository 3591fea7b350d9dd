import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../src/cli/run.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'

describe('the archive of an account', () => {
  const apps: TestApp[] = []
  let dir: string
  before(async () => {
    for (let n = 0; n < 2; n++) apps.push(await startTestApp())
    dir = await mkdtemp(join(tmpdir(), 'linkledger-round-trip-'))
  })
  after(async () => {
    for (const app of apps) await app.close()
    await rm(dir, { recursive: true, force: true })
  })

  it('brings each field of its links to another service', async () => {
    const [from, to] = apps as [TestApp, TestApp]
    const [there, here] = [await from.register(), await to.register()]
    for (const [app, own] of [
      [from, there],
      [to, here],
    ] as const)
      await until(
        () => app.get('/api/account', own),
        ({ status }) => status === 200,
      )
    const url = (name: string) => `https://example.com/${name}`
    const rows = [
      {
        ...{ url: url('all'), custom: 'all', type: 'frame', title: 'Title', description: 'Description' },
        ...{ metatitle: 'Preview', metadescription: 'A preview', metaimage: url('picture.png'), notes: 'for me alone' },
        ...{
          geotarget: [{ location: 'Germany', link: url('de') }],
          devicetarget: [{ device: 'ios', link: url('ios') }],
        },
        browsertarget: [{ browser: 'chrome', link: url('chrome') }],
        languagetarget: [{ language: 'pt-BR', link: url('pt') }],
        ...{ parameters: [{ name: 'ref', value: 'x' }], tags: ['one', 'two'], forward: 'path', archived: true },
        ...{ starts: '2024-01-01 00:00:00', expiry: '2090-01-01 00:00:00', expired_url: url('ended'), max_clicks: 5 },
        variants: [
          { url: url('a'), weight: 1 },
          { url: url('b'), weight: 3 },
        ],
        ...{ date: '2020-02-03 04:05:06', clicks: 500, uniqueclicks: 20 },
      },
      { url: url('shown'), custom: 'shown', type: 'splash', metatitle: 'Only a preview', date: '2021-02-03' },
    ]
    const made = await from.post('/api/urls/bulk?op=create', { ...there, body: { rows } })
    expect(made.json, made.text).to.include({ failed: 0 })
    const [, { id }] = made.json['rows']
    const more = await from.post(`/api/url/${id}/addresses`, { ...there, body: { custom: 'also-shown' } })
    expect(more.status, more.text).to.equal(200)
    const answer = await fetch(`${from.address}/api/account/export`, {
      headers: { Authorization: `Bearer ${there.key}` },
    })
    const file = join(dir, 'archive.tar.gz')
    await writeFile(file, Buffer.from(await answer.arrayBuffer()))
    const printed: string[] = []
    const print = (line: string) => void printed.push(line)
    const args = ['import', 'linkledger', file, '--to', to.address]
    const code = await run(args, { variables: { LINKLEDGER_KEY: here.key }, print, printError: print })
    expect(code, printed.join('\n')).to.equal(0)
    expect(printed.join('\n')).to.contain('Created 2,').and.not.to.contain('have no such field')
    const detailsOf = async (app: TestApp, own: typeof there) => {
      const { urls } = (await app.get('/api/urls?archived=all&order=oldest', own)).json['data'] as {
        urls: { id: number }[]
      }
      const all = await Promise.all(urls.map(async ({ id }) => (await app.get(`/api/url/${id}`, own)).json))
      return all.map(({ details: { id: _, revision: __, variants, addresses, ...details }, data }) => {
        const { clicks, uniqueClicks, imported } = data as Record<string, number>
        const counts = { clicks, uniqueClicks, imported }
        const shares = (variants as object[]).map((one) => ({ ...one, id: undefined }))
        const aliases = (addresses as { alias: string }[]).map(({ alias }) => alias)
        return { ...details, ...counts, shares, aliases, domain: undefined, shorturl: undefined, unframed: undefined }
      })
    }
    expect(await detailsOf(to, here)).to.deep.equal(await detailsOf(from, there))
  })
})
