import { expect } from 'chai'
import { PixelType } from '../../../../src/events/pages/pixel.ts'
import type { Answer } from '../../../support/client.ts'
import { agents, long, message, policyOf, strict, summary, useInterstitials } from '../../../support/interstitials.ts'

/** What a page may do that has no origin: all that leading on needs, but nothing with the cookies of its host. */
const leading = [
  'allow-scripts',
  'allow-forms',
  'allow-downloads',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-top-navigation',
]

describe('a link with pixels', () => {
  const { app, key, create, add, visit, clicksSoFar } = useInterstitials()
  const all = async () =>
    Promise.all(PixelType.options.map(async (type) => create('pixel', { type, name: type, tag: `TAG-${type}/9` })))
  const attribute = (name: string, markup: string) =>
    new RegExp(`data-${name}="([^"]*)"`)
      .exec(markup)?.[1]
      ?.replaceAll('&lt;', '<')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
  const fires = ({ text }: Answer) =>
    JSON.parse(attribute('fires', attribute('page', text) ?? text) ?? '[]') as {
      image?: string
      script?: string
      tag?: string
    }[]

  it('fires each type at its own network, and allows no other', async () => {
    for (const [type, host] of Object.entries({
      gtmpixel: 'https://www.googletagmanager.com',
      gapixel: 'https://www.googletagmanager.com',
      fbpixel: 'https://www.facebook.com',
      adwordspixel: 'https://googleads.g.doubleclick.net',
      linkedinpixel: 'https://px.ads.linkedin.com',
      twitterpixel: 'https://analytics.twitter.com',
      adrollpixel: 'https://d.adroll.com',
      quorapixel: 'https://q.quora.com',
      pinterest: 'https://ct.pinterest.com',
      bing: 'https://bat.bing.com',
      snapchat: 'https://tr.snapchat.com',
      reddit: 'https://alb.reddit.com',
      tiktok: 'https://analytics.tiktok.com',
    })) {
      const tag = 'Tag_1-2'
      const page = await visit((await add({ pixels: [await create('pixel', { type, name: 'p', tag })] })).path)
      expect(page.status, type).to.equal(200)
      const [fire] = fires(page)
      const address = new URL(fire?.image ?? fire?.script ?? '')
      expect([address.origin, address.href.includes(tag)], type).to.deep.equal([host, true])
      const policy = policyOf(page)
      expect(policy, type).to.include({ ...strict, 'style-src': 'own own' })
      expect(policy[fire?.image ? 'img-src' : 'script-src'], type).to.include(host)
      if (fire?.image) expect(policy['script-src'], type).to.equal('own')
      expect(policy).not.to.have.property('frame-src')
    }
  })

  it('has a link to the destination, and does not redirect without script', async () => {
    const page = await visit((await add({ pixels: await all() })).path)
    const to = 'https://example.com/a?b=c&amp;d=%20#e'
    expect(page.text).not.to.match(/http-equiv/i)
    expect(page.text).to.match(/<a\s+id="go"\s+class="button go"/)
    expect(page.text).to.include(`href="${to}"`)
    expect(page.headers.get('Referrer-Policy')).to.equal('no-referrer')
    expect(fires(page)).to.have.length(14)
  })

  it('says in the language of the visitor who measures, and counts the visit without measurement too', async () => {
    const types = ['gapixel', 'gtmpixel', 'fbpixel', 'fbpixel']
    const pixels = await Promise.all(types.map((type) => create('pixel', { type, name: type, tag: 'T-1' })))
    const { id, path } = await add({ pixels })
    const page = await visit(path)
    expect(page.text).to.include('measures visits with Google Analytics, Google Tag Manager and Meta Pixel.')
    expect(page.text).to.match(/id="without"[^>]*href="https:\/\/example\.com\/a/)
    const german = await visit(path, { 'Accept-Language': 'de-CH' })
    expect(german.text).to.include('durch Google Analytics, Google Tag Manager und Meta Pixel gemessen')
    expect(await clicksSoFar(id, path)).to.equal(2)
  })

  it('fires nothing on any page for a visitor who does not want to be tracked', async () => {
    const pixels = await all()
    const [direct, framed, splash] = await Promise.all([
      add({ pixels }),
      add({ pixels, type: 'frame' }),
      add({ pixels, type: 'splash' }),
    ])
    for (const header of ['Sec-GPC', 'DNT']) {
      expect(summary(await visit(direct.path, { [header]: '1' }))).to.equal(`302 ${long}`)
      expect((await visit(direct.path, { [header]: '0' })).status).to.equal(200)
      for (const { path } of [framed, splash]) {
        expect(fires(await visit(path))).to.have.length(14)
        const page = await visit(path, { [header]: '1' })
        expect(page.text).not.to.match(/data-(fires|page)/)
        expect(page.text).to.include('Your browser asks not to be tracked').and.not.to.include('measures visits')
        expect(page.headers.get('Content-Security-Policy')).not.to.include('facebook')
      }
    }
  })

  it("runs scripts of networks without an origin on the service's own host, and as they are on a branded domain", async () => {
    await app().post('/api/domain/add', { key: key(), body: { domain: 'https://brand.example.org' } })
    const branded = { domain: 'brand.example.org' }
    const splash = `splash-${await create('splash', { name: 's', title: 'Wait' })}`
    const overlay = `overlay-${await create('overlay', message)}`
    for (const type of PixelType.options) {
      const pixels = [await create('pixel', { type, name: type, tag: 'Tag_1-2' })]
      const runs = ['gtmpixel', 'gapixel', 'tiktok'].includes(type)
      for (const shown of ['direct', splash, 'frame', overlay]) {
        const what = `${type} ${shown}`
        const page = await visit((await add({ pixels, type: shown })).path)
        const { sandbox, 'script-src': scripts } = policyOf(page)
        const framed = ['frame', overlay].includes(shown)
        expect(sandbox?.split(' '), what).to.deep.equal(runs && !framed ? leading : undefined)
        expect(/data-(fires|page)=/.exec(page.text)?.[1], what).to.equal(runs && framed ? 'page' : 'fires')
        if (runs && framed) expect(scripts?.match(/own/g), what).to.have.length(2)
        const { path } = await add({ pixels, type: shown, ...branded })
        const there = await visit(path, { Host: branded.domain })
        expect(policyOf(there), what).not.to.have.property('sandbox')
        expect(there.text, what).to.include('data-fires=').and.not.to.include('data-page=')
      }
    }
  })

  it('redirects a previewer', async () => {
    const { path } = await add({ pixels: await all() })
    expect(summary(await visit(path, { 'User-Agent': agents.slack }))).to.equal(`302 ${long}`)
  })

  it('redirects again once the pixels are deleted', async () => {
    const id = await create('pixel', { type: 'bing', name: 'p', tag: '123' })
    const { path } = await add({ pixels: [id] })
    expect((await visit(path)).status).to.equal(200)
    await app().del(`/api/pixel/${id}/delete`, { key: key() })
    expect(summary(await visit(path))).to.equal(`302 ${long}`)
  })
})
