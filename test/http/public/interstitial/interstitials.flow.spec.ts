import { expect } from 'chai'
import { until } from '../../../support/client.ts'
import { inSeconds, secondsLater } from '../../../support/clock.ts'
import { agents, canada, germany, long, summary, useInterstitials } from '../../../support/interstitials.ts'

describe('every interstitial page', () => {
  const { app, api, add, visit, clicks, kinds } = useInterstitials()
  it('counts a GET request once, and a HEAD request not at all', async () => {
    for (const [kind, body] of Object.entries(await kinds())) {
      const { id, path } = await add(body)
      const head = await app().ask('HEAD', path, { headers: { 'User-Agent': agents.person } })
      expect([head.status, head.text], kind).to.deep.equal([200, ''])
      const page = await visit(path)
      for (const name of ['Content-Security-Policy', 'Content-Type'])
        expect(head.headers.get(name)).to.equal(page.headers.get(name))
      // no URL on the page leads back to the short link
      for (const [, to = ''] of page.text.matchAll(/(?:href|src|action)="([^"]*)"/g))
        expect(to, kind).to.match(/^https:\/\/example\.com\/|^\/o\/\d+$|^\/report\?link=/)
      await visit(path)
      expect(
        await until(
          () => clicks(id),
          (count) => count >= 2,
        ),
        kind,
      ).to.equal(2)
    }
  })

  it('returns its destination to a client that accepts JSON', async () => {
    for (const [kind, body] of Object.entries(await kinds())) {
      const { status, json } = await visit((await add(body)).path, { Accept: 'application/json' })
      expect(status, kind).to.equal(200)
      expect(json, kind).to.include({ error: 0, url: long })
    }
  })

  it('has headers that forbid caching, sniffing and referrers', async () => {
    for (const [kind, body] of Object.entries(await kinds())) {
      const { headers } = await visit((await add(body)).path)
      const given = Object.fromEntries(
        [...headers].filter(
          ([name]) =>
            !/^(connection|content-length|date|keep-alive|content-encoding|content-security-policy)$/.test(name),
        ),
      )
      expect(given, kind).to.deep.equal({
        'cache-control': 'private, no-store',
        'content-type': 'text/html; charset=utf-8',
        'cross-origin-opener-policy': 'same-origin-allow-popups',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        vary: 'Accept, Accept-Encoding, Accept-Language',
      })
    }
  })

  it('leads to the target for this visitor, with the parameters of the link', async () => {
    for (const [kind, body] of Object.entries(await kinds())) {
      const { path } = await add({
        ...body,
        devicetarget: [{ device: 'iphone', link: 'https://phone.example/p' }],
        geotarget: [{ location: 'Canada', link: 'https://canada.example/c' }],
        languagetarget: [{ language: 'fr', link: 'https://french.example/f' }],
        parameters: [{ name: 'via', value: 'a b&c' }],
      })
      for (const [headers, to] of [
        [{ 'User-Agent': agents.iphone, 'X-Forwarded-For': canada }, 'https://phone.example/p?via=a+b%26c'],
        [{ 'X-Forwarded-For': canada, 'Accept-Language': 'fr' }, 'https://canada.example/c?via=a+b%26c'],
        [{ 'X-Forwarded-For': germany, 'Accept-Language': 'fr-CA,en;q=0.5' }, 'https://french.example/f?via=a+b%26c'],
        [{ 'X-Forwarded-For': germany }, 'https://example.com/a?b=c&amp;d=%20&amp;via=a+b%26c#e'],
      ] as [Record<string, string>, string][]) {
        const { text, headers: given } = await visit(path, headers)
        const shown = to.includes('&amp;') ? to : to.replaceAll('&', '&amp;')
        expect(text, `${kind} ${to}`).to.include(`="${shown}"`)
        if (kind === 'frame') expect(given.get('Content-Security-Policy')).to.include(`frame-src ${new URL(to).origin}`)
        for (const not of ['phone', 'canada', 'french'].filter((name) => !to.includes(name)))
          expect(text).not.to.include(`${not}.example`)
      }
    }
  })

  it('takes no destination from the query', async () => {
    for (const [kind, body] of Object.entries(await kinds())) {
      const { path } = await add(body)
      for (const query of [
        '?url=https://evil.example',
        '?redir_url=https://evil.example',
        '?next=//evil.example',
        '?to=https://evil.example',
      ])
        expect((await visit(path + query)).text, kind).not.to.include('evil')
    }
  })

  it('responds 410 once its destination has become a domain of this service', async () => {
    const made_ = await Promise.all(
      Object.values(await kinds()).map((body, i) => add({ ...body, url: `https://ours-${i}.example/x` })),
    )
    for (const [i, { id, path }] of made_.entries()) {
      expect((await visit(path)).status).to.equal(200)
      await api('/api/domain/add', { domain: `https://ours-${i}.example` })
      expect(summary(await visit(path))).to.equal('410 This link no longer works')
      const counted = () => clicks(id)
      expect(await until(counted, (count) => count > 0)).to.equal(1)
    }
  })

  it('responds 410 from the moment the link expires', async () => {
    const expiry = inSeconds(60)
    const paths = await Promise.all(
      Object.values(await kinds()).map(async (body) => (await add({ ...body, expiry })).path),
    )
    for (const path of paths) expect((await visit(path)).status).to.equal(200)
    await secondsLater(61, async () => {
      for (const path of paths) expect(summary(await visit(path))).to.equal('410 This link has expired')
    })
  })
})
