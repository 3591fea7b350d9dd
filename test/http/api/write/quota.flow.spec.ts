import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../../support/app.ts'

describe('quotas of an account', () => {
  const quota = 3
  const names = [
    'LINKS',
    'QR_CODES',
    'DOMAINS',
    'CAMPAIGNS',
    'CHANNELS',
    'OVERLAYS',
    'PIXELS',
    'SPLASH_PAGES',
    'BIO_PAGES',
  ]
  const kindIn = (path: string) => path.split('/')[2]?.replace('url', 'link')
  let app: TestApp
  before(async () => {
    app = await startTestApp(Object.fromEntries(names.map((name) => [`QUOTA_${name}`, String(quota)])))
  })
  after(() => app.close())

  const bodies: Readonly<Record<string, { what: string; body: (i: number) => object; id?: string }>> = {
    '/api/url/add': { what: 'links', body: (i) => ({ url: `https://example.com/${i}` }) },
    '/api/qr/add': { what: 'QR codes', body: () => ({ type: 'text', data: 'hello' }) },
    '/api/domain/add': { what: 'domains', body: (i) => ({ domain: `https://go${i}.example.com` }) },
    '/api/campaign/add': { what: 'campaigns', body: (i) => ({ name: `campaign ${i}` }) },
    '/api/channel/add': { what: 'channels', body: (i) => ({ name: `channel ${i}` }) },
    '/api/overlay/add': { what: 'overlays', body: (i) => ({ name: `o${i}`, type: 'message', message: 'Hello' }) },
    '/api/pixel/add': { what: 'pixels', body: (i) => ({ name: `p${i}`, type: 'gtmpixel', tag: `GTM-${i}` }) },
    '/api/splash/add': { what: 'splash pages', body: (i) => ({ name: `s${i}`, title: 'Title' }) },
  }

  it('are kept when many requests come at once, and refused with 403 and the name of the quota', async () => {
    const { key } = await app.register()
    for (const [path, { what, body }] of Object.entries(bodies)) {
      const answers = await Promise.all(Array.from({ length: 9 }, (_, i) => app.post(path, { key, body: body(i) })))
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
      expect(statuses, `${path} ${answers[0]?.text}`).to.deep.equal([200, 200, 200, 403, 403, 403, 403, 403, 403])
      expect(answers.find(({ status }) => status === 403)?.json).to.deep.equal({
        error: 1,
        message: `This account has reached its quota of 3 ${what}. Delete some, or ask the operator of this service for more.`,
        code: 'quota_exceeded',
        params: { what: kindIn(path), max: 3 },
      })
    }
  })

  it('have room again after a deletion, and are each account its own', async () => {
    const [ann, bob] = [await app.register(), await app.register()]
    const add = (key: string) => app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
    const made = [await add(ann.key), await add(ann.key), await add(ann.key)]
    expect((await add(ann.key)).status).to.equal(403)
    expect((await add(bob.key)).status).to.equal(200)
    await app.del(`/api/url/${made[0]?.json['id']}/delete`, { key: ann.key })
    expect((await add(ann.key)).status).to.equal(200)
    expect((await add(ann.key)).status).to.equal(403)
  })

  it('also hold for a domain that comes back', async () => {
    const { key } = await app.register()
    const add = (n: number) => app.post('/api/domain/add', { key, body: { domain: `https://back${n}.example.com` } })
    const ids = []
    for (let n = 0; n < quota; n++) ids.push((await add(n)).json['id'])
    await app.del(`/api/domain/${ids[0]}/delete`, { key })
    expect((await add(quota)).status).to.equal(200)
    expect((await add(0)).status).to.equal(403)
  })

  it('also hold for domains that are added and deleted in turn, of which every process has each in memory', async () => {
    const { key } = await app.register()
    const { ledger } = app.app
    const domains = ledger.tables.name('domains')
    const [first, ...others] = await Promise.all(
      Array.from({ length: quota }, async (_, n) => {
        const added = await app.post('/api/domain/add', { key, body: { domain: `https://turn${n}.example.com` } })
        return added.json['id'] as number
      }),
    )
    for (const id of [first, ...others]) await app.del(`/api/domain/${id}/delete`, { key })
    const copyDeleted = (count: number, days: number) =>
      ledger.db.raw(
        `create temp table more as select d.*, n from ${domains} d cross join generate_series(1, ${count}) as n where id = ${first};
         update more set id = 1000000 * ${days} + n, deleted = now() - interval '${days} days'; alter table more drop column n;
         insert into ${domains} select * from more; drop table more`,
      )
    await copyDeleted(200, 31)
    await copyDeleted(97, 29)
    const add = (n: number) => app.post('/api/domain/add', { key, body: { domain: `https://next${n}.example.com` } })
    for (let n = 0; n < quota; n++) {
      const { status, json } = await add(n)
      expect(status).to.equal(200)
      await app.del(`/api/domain/${json['id']}/delete`, { key })
    }
    expect((await add(quota)).json).to.deep.include({ code: 'quota_exceeded', params: { what: 'domain', max: quota } })
  })

  it('also hold for domains that come back at the same time', async () => {
    const { key } = await app.register()
    const add = (n: number) => app.post('/api/domain/add', { key, body: { domain: `https://again${n}.example.com` } })
    for (let n = 0; n < 6; n++) {
      const { json } = await add(n)
      await app.del(`/api/domain/${json['id']}/delete`, { key })
    }
    for (let n = 6; n < 5 + quota; n++) expect((await add(n)).status).to.equal(200)
    const answers = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (n) => {
        // apart, so that one has been let through before the next one is counted
        await sleep(n * 3)
        return add(n)
      }),
    )
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1)
  })
})
