import { expect } from 'chai'
import { signIn } from '../../support/session.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'

type Own = Awaited<ReturnType<TestApp['register']>>

/** A link of Bitly with its own address and others, of which the first other one is the main one here. */
const record = (name: string, custom: readonly string[]) => ({
  id: `bit.ly/${name}`,
  link: `https://bit.ly/${name}`,
  long_url: 'https://example.com/a',
  custom_bitlinks: custom.map((alias) => `https://bit.ly/${alias}`),
})
const fileOf = (...links: readonly object[]) => JSON.stringify({ links })

describe('the addresses of a link that an import brings', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
  })
  after(() => app.close())

  const ended = (own: Own, id: string) =>
    until(
      async () => (await app.get(`/api/import/${id}`, own)).json['details'] as { id: string; state: string },
      ({ state }) => !['running', 'undoing', 'checking'].includes(state),
      60_000,
    )
  const bring = async (own: Own, file: string, query = '') => {
    const headers = { 'Content-Type': 'application/octet-stream' }
    const { json } = await app.post(`/api/import?${query}`, { ...own, body: file, headers })
    return ended(own, String(json['id']))
  }
  /** Returns the alias, outcome and message of each line. */
  const report = async (own: Own, id: string) =>
    (await app.get(`/api/import/${id}/report`, own)).text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',').filter((_, n) => [1, 3, 4].includes(n)))
  const at = async (own: Own, alias: string) => (await app.get(`/api/urls?short=${alias}`, own)).json['data'].urls[0]
  const takeBack = async (own: Own, id: string) => {
    await app.del(`/api/import/${id}/delete`, own)
    return ended(own, id)
  }

  it('given addresses that letter case tells apart, with dots and slashes, when their domain has exact aliases, then all of them come', async () => {
    const own = await app.register()
    await app.post('/api/domain/add', { ...own, body: { domain: 'https://moved.example', aliases: 'exact' } })
    const file = ['alias,url', ...['Go', 'go', 'a/b.c', 'été'].map((alias, n) => `${alias},https://example.com/${n}`)]
    const links = file
      .join('\n')
      .replaceAll(/^(?=[^,]+,https)/gm, 'https://sho.rt/')
      .replace('alias', 'short url')
    for (const outcome of ['created', 'kept']) {
      const { id } = await bring(own, links, 'domain=sho.rt%3Dmoved.example')
      expect((await report(own, id)).map(([alias, result]) => [alias, result])).to.deep.equal(
        ['Go', 'go', 'a/b.c', 'été'].map((alias) => [alias, outcome]),
      )
    }
    const { urls } = (await app.get('/api/urls?domain=moved.example', own)).json['data']
    expect((urls as { alias: string; longurl: string }[]).map((one) => `${one.alias} ${one.longurl}`)).to.have.members([
      'Go https://example.com/0',
      'go https://example.com/1',
      'a/b.c https://example.com/2',
      'été https://example.com/3',
    ])
  })

  it('given addresses with and without hosts, when one domain is named alone, then it is that of all without a pair', async () => {
    const own = await app.register()
    for (const [domain, aliases] of [
      ['rest.example', 'exact'],
      ['pair.example', 'folded'],
    ])
      await app.post('/api/domain/add', { ...own, body: { domain: `https://${domain}`, aliases } })
    const file = 'alias,url\nA/b,https://example.com/1\nhttps://x.example/B.c,https://example.com/2\n'
    const { id } = await bring(
      own,
      `${file}https://sho.rt/Cd,https://example.com/3`,
      'domain=rest.example,sho.rt=pair.example',
    )
    expect((await report(own, id)).map(([alias, outcome]) => [alias, outcome])).to.deep.equal(
      ['A/b', 'B.c', 'Cd'].map((alias) => [alias, 'created']),
    )
    const { urls } = (await app.get('/api/urls', own)).json['data']
    expect((urls as { shorturl: string }[]).map(({ shorturl }) => shorturl)).to.have.members([
      ...['https://rest.example/A/b', 'https://rest.example/B.c', 'https://pair.example/Cd'],
    ])
    for (const domain of ['a.example,b.example', '=a.example', 'a=b=c', 'x=']) {
      const { json } = await app.post(`/api/import?domain=${encodeURIComponent(domain)}`, { ...own, body: 'alias,url' })
      expect(json['message'], domain).to.contain('with at most one host alone')
    }
  })

  it('given a record that comes twice, when its link was changed, then it stays as the import is taken back', async () => {
    const own = await app.register()
    const same = record('dm1', ['da1'])
    const { id } = await bring(own, fileOf(same, same))
    const { id: link } = await at(own, 'da1')
    const lines = (await report(own, id)).filter(([alias]) => alias === 'dm1')
    expect(lines.map(([, outcome]) => outcome)).to.deep.equal(['added', 'kept'])
    const changed = await app.put(`/api/url/${link}/update`, { ...own, body: { url: 'https://example.com/CHANGED' } })
    expect(changed.status, changed.text).to.equal(200)
    const back = await takeBack(own, id)
    expect(back, JSON.stringify(back)).to.include({ state: 'undone', kept: 1 })
    expect(await at(own, 'da1')).to.include({ longurl: 'https://example.com/CHANGED' })
  })

  it('given a record that comes twice, when nothing was changed, then its link is taken back', async () => {
    const own = await app.register()
    const same = record('dn1', ['db1', 'db2'])
    const { id } = await bring(own, fileOf(same, same))
    expect(await takeBack(own, id)).to.include({ state: 'undone', kept: 0 })
    expect((await app.get('/api/urls', own)).json['data']).to.include({ result: 0 })
  })

  it('given rules for approvals, when they come with their link, then they wait for no second person', async () => {
    const own = await app.register()
    const owner = await signIn(app, own.email)
    const { json } = await owner.ask('POST', '/api/member/invite', { role: 'editor' })
    const other = await signIn(app, (await app.register()).email)
    await other.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    const set = await app.put('/api/account/approval', { ...own, body: { live: true } })
    expect(set.status, set.text).to.equal(200)
    const { id } = await bring(own, fileOf(record('pm1', ['pa1', 'pa2'])))
    expect((await report(own, id)).map(([alias, outcome]) => [alias, outcome])).to.deep.equal([
      ['pa1', 'created'],
      ['pa2', 'added'],
      ['pm1', 'added'],
    ])
    const link = await at(own, 'pa1')
    expect(link.addresses.map(({ alias }: { alias: string }) => alias)).to.deep.equal(['pa1', 'pa2', 'pm1'])
    expect((await app.get('/api/proposals', own)).json['data']).to.include({ result: 0 })
    const byHand = await app.post(`/api/url/${link.id}/addresses`, { ...own, body: { custom: 'pa3' } })
    expect(byHand.status, byHand.text).to.equal(202)
  })

  it('given their link was there before, when one more comes, then the report says that it is a link of its own', async () => {
    const own = await app.register()
    await bring(own, fileOf(record('nm1', ['na1'])))
    const { id } = await bring(own, fileOf(record('nm1', ['na1', 'nb1'])))
    expect(await report(own, id)).to.deep.equal([
      ['na1', 'kept', ''],
      ['nb1', 'created', 'It is a link of its own: na1 was there before.'],
      ['nm1', 'kept', ''],
    ])
    expect((await at(own, 'nb1')).id).not.to.equal((await at(own, 'na1')).id)
  })
})
