import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { until } from '../../../support/client.ts'
import { agents, canada, message, summary, useInterstitials } from '../../../support/interstitials.ts'

describe('a protected link with an interstitial', () => {
  const { app, key, api, create, add, update, visit } = useInterstitials()
  /** another process on the same database */
  let other: TestApp
  before(async () => {
    other = await startTestApp({ TRUST_PROXY: '1' }, app().connection)
  })
  after(() => other.close())

  const word = 'sesame'
  const targets = {
    devicetarget: [{ device: 'iphone', link: 'https://phone.example/p' }],
    geotarget: [{ location: 'CA', link: 'https://canada.example/c' }],
    languagetarget: [{ language: 'fr', link: 'https://french.example/f' }],
  }
  const visitors: [Record<string, string>, string][] = [
    [{ 'User-Agent': agents.iphone }, 'https://phone.example/p'],
    [{ 'User-Agent': agents.pixel8, 'X-Forwarded-For': canada }, 'https://canada.example/c'],
    [{ 'Accept-Language': 'fr' }, 'https://french.example/f'],
    [{ 'Sec-GPC': '1' }, 'https://example.com/a'],
    [{ 'User-Agent': agents.facebook }, 'https://example.com/a'],
    [{ Accept: 'application/json' }, 'https://example.com/a'],
  ]

  it('shows only the password form until the password was given, and then the page for this visitor', async () => {
    const splash = await create('splash', { name: 's', title: 'secret-words' })
    const overlay = await create('overlay', { ...message, message: 'secret-words' })
    const pixels = [await create('pixel', { type: 'fbpixel', name: 'p', tag: 'secret-words' })]
    const { id: campaign, rotator } = await api('/api/campaign/add', { name: 'c', public: true })
    for (const type of ['direct', 'frame', 'splash', `splash-${splash}`, `overlay-${overlay}`]) {
      const words = { title: 'secret-words', metatitle: 'secret-words', metadescription: 'secret-words' }
      const { id, path } = await add({ type, pixels, password: word, campaign, ...targets, ...words })
      const { link: image } = await api('/api/qr/add', { type: 'link', data: app().app.baseUrl + path })
      const scanned = await visit(`${new URL(String(image)).pathname}/go`)
      expect(new URL(scanned.headers.get('Location') ?? '').pathname).to.equal(path)
      // a rotator knows a campaign as soon as the tables do
      await until(
        async () => summary(await visit(new URL(String(rotator)).pathname)),
        (drawn) => drawn === `302 ${app().app.baseUrl}${path}`,
      )

      const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const { headers } = await app().post(path, { body: `password=${word}`, headers: form })
      const cookie = headers.get('Set-Cookie')!.split(';')[0]!
      for (const [who, to] of visitors) {
        for (const method of who['Accept'] ? ['GET'] : ['GET', 'HEAD'])
          for (const given of ['', `ll_${id}=1.x`, cookie.replace(`ll_${id}`, `ll_${id + 1}`)]) {
            const locked = await app().ask(method, path, {
              headers: { 'User-Agent': agents.person, ...who, Cookie: given },
            })
            expect([locked.status, locked.headers.get('Location')], type).to.deep.equal([200, null])
            expect(locked.text + locked.headers.get('Content-Security-Policy')).not.to.match(/secret-words|example/)
            if (method === 'GET' && !who['Accept']) expect(locked.text).to.include('name="password"')
          }
        const open = await visit(path, { ...who, Cookie: cookie })
        expect(`${open.headers.get('Location')} ${open.text}`, `${type} ${to}`).to.include(to)
      }
      await update(id, { password: 'another', type })
      for (const at of [app(), other]) {
        const closed = await until(
          () => visit(path, { Cookie: cookie }, at),
          ({ text }) => text.includes('name="password"'),
        )
        expect(closed.text, 'with the old cookie').to.include('name="password"')
      }
      await app().del(`/api/url/${id}/delete`, { key: key() })
    }
  })
})
