import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { account } from '../../../src/commands/accounts/account.ts'
import { block } from '../../../src/commands/operator/block.ts'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { openStage } from '../../support/faults.ts'
import { campaignClient } from '../../support/clients/campaign.ts'

describe('the public list of a campaign', () => {
  let app: TestApp
  let key: string
  let username: string
  before(async () => {
    app = await startTestApp()
    ;({ key, username } = await app.register())
  })
  after(() => app.close())

  const { create, link, pathOf, visit, free } = campaignClient(
    () => app,
    () => key,
  )

  const page = async (address: string, query = '') => app.visit(pathOf(address) + query)

  it('shows links newest first, by title or address', async () => {
    const { id, list } = await create({ name: 'Spring sale', slug: free() })
    const titled = await link({ title: 'The shop', campaign: id })
    const plain = await link({ url: 'https://shop.example.org/x', campaign: id })
    const { status, text, headers } = await page(list)
    expect([status, headers.get('Content-Type')]).to.deep.equal([200, 'text/html; charset=utf-8'])
    expect(text).to.include('<title>Spring sale</title>').and.include('<h1 dir="auto">Spring sale</h1>')
    const found = [
      ...text.matchAll(
        /<a href="([^"]*)" rel="noopener nofollow ugc"\s*><span><b dir="auto">(.*?)<\/b><small>(.*?)<\/small><\/span><\/a/g,
      ),
    ].map((match) => match.slice(1))
    expect(found).to.deep.equal([
      [plain.short, plain.short.replace('http://', ''), 'shop.example.org'],
      [titled.short, 'The shop', 'example.com'],
    ])
  })

  it('is a small page without scripts that cannot be framed or submitted to', async () => {
    const { id, list } = await create({ slug: free() })
    await link({ campaign: id })
    const { text, headers } = await page(list)
    expect(text).not.to.match(/<script|<img|\son\w+=/i)
    expect(gzipSync(text).length).to.be.below(8000)
    expect(text).to.include('<meta name="viewport" content="width=device-width,initial-scale=1">')
    const policy = headers.get('Content-Security-Policy')
    expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'")
    expect(policy).not.to.match(/script-src|unsafe|\*/)
    expect(headers.get('X-Content-Type-Options')).to.equal('nosniff')
    expect(headers.get('Cache-Control')).to.equal('private, no-cache')
  })

  it('leaves out dead links and does not reveal the destination of protected ones', async () => {
    const { id, list } = await create({ slug: free() })
    await link({ title: 'Gone', campaign: id }).then(({ id: gone }) => app.del(`/api/url/${gone}/delete`, { key }))
    const secret = await link({ url: 'https://secret.example/x', password: 'open sesame', campaign: id })
    const { text } = await page(list)
    expect(text).to.include(secret.short).and.not.include('secret.example').and.not.include('Gone')
    expect((await page((await create({ slug: free() })).list)).text).to.include('This list has no links at the moment.')
  })

  it('leaves out links that are blocked themselves, and says of one for few visitors no more than of a protected one', async () => {
    const { id, list } = await create({ slug: free() })
    const { id: bad } = await link({ title: 'Call this number', campaign: id })
    const few = await link({ url: 'https://secret.example/x', max_clicks: 1, campaign: id })
    expect((await page(list)).text).to.include('Call this number')
    const what = { type: 'Block', kind: 'link', value: String(bad), reason: 'spam' } as const
    await app.app.ledger.handler.handle(block, what, operatorContext({ OPERATOR: 'ann' }, null))
    const { text } = await until(
      () => page(list),
      (answer) => !answer.text.includes('Call this number'),
    )
    expect(text).to.include(few.short).and.not.include('secret.example')
  })

  it('links to older and newer pages', async () => {
    const { id, list } = await create({ slug: free() })
    await Promise.all(Array.from({ length: 101 }, (_, n) => link({ title: `Link ${n}`, campaign: id })))
    const first = await until(
      () => page(list),
      ({ text }) => text.includes('Older'),
    )
    const second = await page(list, '?page=2')
    const shown = [first, second].map(({ text }) => [...text.matchAll(/>(Link \d+)</g)].map(([, title]) => title))
    expect(shown.map(({ length }) => length)).to.deep.equal([100, 1])
    expect(new Set(shown.flat()).size).to.equal(101)
    expect(first.text).to.include('href="?page=2">Older').and.not.include('Newer')
    expect(second.text).to.include('href="?page=1">Newer').and.not.include('Older')
    for (const odd of ['?page=0', '?page=x', '?page=-1', '?page=1%00'])
      expect((await page(list, odd)).text).to.equal(first.text)
    expect((await page(list, `?page=${'9'.repeat(30)}`)).status).to.equal(200)
  })

  it('exists only while the campaign is public and its account active, at its exact address', async () => {
    const slug = free()
    const other = await app.register()
    const { id, list } = await create({ name: 'x', slug }, other.key)
    const status = async (path: string) => (await app.visit(path)).status
    expect(await status(pathOf(list))).to.equal(200)
    for (const path of [
      `/u/${username}/${slug}-${id}`,
      `/u/${other.username}/other-${id}`,
      `/u/${other.username}/${slug}-${id}0`,
      `/u/${other.username}/${slug}`,
      `/u/${other.username}/`,
      `/u/${other.username}/${slug}-${id}/x`,
      `/u/${other.username}/${slug}-0${id}`,
      `/u/%2e%2e/${slug}-${id}`,
      '/u/',
    ])
      expect(await status(path), path).to.equal(404)
    await app.put(`/api/campaign/${id}/update`, { key: other.key, body: { name: 'x', public: false } })
    expect(await status(pathOf(list))).to.equal(404)
    await app.put(`/api/campaign/${id}/update`, { key: other.key, body: { name: 'x', public: true } })
    expect(await status(pathOf(list))).to.equal(200)
    const { handler } = app.app.ledger
    const operator = {
      account: other.id,
      actor: { kind: 'operator' },
      request: 'r',
      at: new Date().toISOString(),
    } as const
    await handler.handle(
      account,
      { type: 'DisableAccount', id: other.id },
      { ...operator, command: crypto.randomUUID() },
    )
    expect(
      await until(
        () => status(pathOf(list)),
        (got) => got === 404,
      ),
    ).to.equal(404)
  })

  it('disappears at once with the rotator, also while the tables lag', async () => {
    const stage = openStage()
    try {
      const { id, list, rotator } = await create({ name: 'x', slug: free() })
      const { id: inside } = await link({ campaign: id })
      for (const address of [list, rotator]) expect((await visit(address)).status).to.be.oneOf([200, 302])
      const holder = await stage.connect(app.connection)
      await holder.query('begin; select * from read.checkpoints for update')
      const closing = app.del(`/api/campaign/${id}/delete`, { key })
      for (const address of [list, rotator])
        expect(
          (
            await until(
              () => visit(address),
              ({ status }) => status === 404,
            )
          ).status,
        ).to.equal(404)
      expect((await closing).headers.get('X-Projection-Pending')).to.equal('1')
      const renaming = app.put(`/api/url/${inside}/update`, {
        key,
        body: { url: 'https://example.com/', title: 'New' },
      })
      const read = () => app.get(`/api/url/${inside}`, { key })
      const { details } = (await until(read, ({ json }) => json['details'].title === 'New')).json
      expect(details).to.include({ title: 'New', campaign: null })
      await renaming
    } finally {
      await stage.clear()
    }
  })

  const payloads = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    `'><svg/onload=alert(1)>`,
    '</title><script>alert(1)</script>',
    '</style><script>alert(1)</script>',
    '</a><a href="javascript:alert(1)">x</a>',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '${alert(1)}{{constructor.constructor("alert(1)")()}}',
    '<!--<script>',
    ']]><script>alert(1)</script>',
    '<script>\u2028\u2029alert(1)</script>',
    'x\ufeff<script>alert(1)</script>',
    '\u202e<b>x</b>',
    '\uff1cscript\uff1ealert(1)',
    'a\r\nSet-Cookie: x=1',
  ]
  const escaped = (text: string) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;')

  it('escapes names and titles', async () => {
    for (const payload of payloads) {
      const { id, list } = await create({ name: payload, slug: free() })
      const titled = await link({
        title: payload,
        url: 'https://example.com/"><script>alert(1)</script>',
        campaign: id,
      })
      const { text, headers } = await until(
        () => page(list),
        (shown) => shown.text.includes(titled.short),
      )
      expect(text).to.include(`<title>${escaped(payload)}</title>`)
      expect(text).to.include(`<h1 dir="auto">${escaped(payload)}</h1>`)
      expect(text).to.include(`<b dir="auto">${escaped(payload)}</b><small>example.com</small>`)
      expect(text).to.include(`href="${titled.short}" rel="noopener nofollow ugc"`)
      expect(text.match(/<(?!\/)[a-z0-9]+/gi)).to.have.members(
        '<html <head <meta <meta <meta <title <style <style <body <main <h1 <ul <li <a <span <b <small <footer <p <b <nav <ul <li <a'.split(
          ' ',
        ),
      )
      expect(headers.get('Set-Cookie')).to.equal(null)
    }
  })
})
