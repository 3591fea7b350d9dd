import { expect } from 'chai'
import { PixelType } from '../../../src/events/pixel.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { inSeconds, secondsLater } from '../../support/clock.ts'
import { openStage } from '../../support/faults.ts'

const long = 'https://example.com/a?b=c&d=%20#e'
const agents = {
  person:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
  pixel8:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36',
  facebook: 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  slack: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  googlebot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
}
const [canada, germany] = ['24.48.0.1', '84.160.0.1']

/** What a page of a way is allowed, by directive; the hashes of what is our own are cut short. */
const policyOf = ({ headers }: Answer) =>
  Object.fromEntries(
    (headers.get('Content-Security-Policy') ?? '')
      .replaceAll(/'sha256-[\w+/=]{44}'/g, 'own')
      .split('; ')
      .map((directive) => directive.split(/ (.*)/, 2)) as [string, string][],
  )
const strict = {
  'default-src': `'none'`,
  'form-action': `'self'`,
  'base-uri': `'none'`,
  'frame-ancestors': `'none'`,
}
const answered = ({ status, headers, text }: Answer) =>
  status === 302
    ? `302 ${headers.get('Location')}`
    : `${status} ${/<h1[^>]*>(.*?)<\/h1>/s.exec(text)?.[1] ?? /<(iframe|details)/.exec(text)?.[1]}`

describe('the way of a link', () => {
  let app: TestApp
  /** another process on the same database */
  let other: TestApp
  /** the same, that visitors reach over https */
  let secure: TestApp
  let key: string
  let n = 0
  const stage = openStage()
  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1' })
    const at = app.connection
    ;[other, secure] = await Promise.all([
      startTestApp({ TRUST_PROXY: '1' }, at),
      startTestApp({ TRUST_PROXY: '1', BASE_URL: 'https://go.example' }, at),
    ])
    ;({ key } = await app.register())
  })
  after(async () => {
    await stage.clear()
    await Promise.all([app, other, secure].map((one) => one.close()))
  })

  const api = async (path: string, body: object, method: 'post' | 'put' = 'post') => {
    const { status, json, text } = await app[method](path, { key, body })
    expect(status, text).to.equal(200)
    return json
  }
  const made = async (kind: string, body: object) => Number((await api(`/api/${kind}/add`, body))['id'])
  const add = async (body: object = {}) => {
    const { id, short } = await api('/api/url/add', { url: long, custom: `way-${++n}`, ...body })
    return { id: Number(id), path: new URL(String(short)).pathname }
  }
  const update = (id: number, body: object) => api(`/api/url/${id}/update`, { url: long, ...body }, 'put')
  const visit = (path: string, headers: Record<string, string> = {}, at = app) =>
    at.ask('GET', path, { headers: { 'User-Agent': agents.person, ...headers } })
  const clicks = async (id: number) => Number((await app.get(`/api/url/${id}`, { key })).json['data'].clicks)
  const message = { type: 'message', name: 'm', message: 'Read our guide', link: 'https://example.com/guide' }

  describe('by a frame', () => {
    it('shows the destination with as few rights as it works with, its host, and the link’s own title', async () => {
      const words = { title: 'Mine', description: 'Of mine', metatitle: 'A <b> & title', metadescription: 'It "says"' }
      const { path } = await add({ type: 'frame', ...words, metaimage: 'https://cdn.example.com/a.png?x=1&y=2' })
      const page = await visit(path)
      expect(page.status).to.equal(200)
      expect(page.text).to.include('<title>A &lt;b&gt; &amp; title</title>')
      for (const [name, content] of [
        ['og:title', 'A &lt;b&gt; &amp; title'],
        ['og:description', 'It &quot;says&quot;'],
        ['og:image', 'https://cdn.example.com/a.png?x=1&amp;y=2'],
      ])
        expect(page.text).to.include(`<meta property="${name}" content="${content}"`)
      const [frame = ''] = /<iframe[^>]*>/.exec(page.text) ?? []
      expect(frame).to.include('src="https://example.com/a?b=c&amp;d=%20#e"')
      expect(frame).to.include('referrerpolicy="no-referrer"')
      const rights = /sandbox="([^"]*)"/.exec(frame)?.[1]?.split(' ')
      expect(rights).to.include('allow-scripts').and.not.include('allow-top-navigation').and.not.include('allow-modals')
      expect(page.text).to.match(
        /<header class="bar">.*example\.com.*<a href="https:\/\/example\.com\/a[^"]*"[^>]*>Open directly<\/a/s,
      )
      expect(policyOf(page)).to.deep.equal({
        ...strict,
        'style-src': 'own own',
        'frame-src': 'https://example.com https://www.example.com',
      })
    })

    it('is titled with the destination’s host when the link has no title', async () => {
      expect((await visit((await add({ type: 'frame' })).path)).text).to.include('<title>example.com</title>')
    })

    it('is a redirect where nothing that comes by http can be framed', async () => {
      const { path } = await add({ type: 'frame', url: 'http://plain.example/' })
      expect(answered(await visit(path, {}, secure))).to.equal('302 http://plain.example/')
      const framed = await visit(path)
      expect(framed.text).to.include('<iframe')
      expect(policyOf(framed)['frame-src']).to.equal('http://plain.example http://www.plain.example')
    })
  })

  describe('by a splash page', () => {
    it('waits ten seconds when it has no page of its own, and leads on with and without script', async () => {
      const page = await visit((await add({ type: 'splash', title: 'The report' })).path)
      expect(answered(page)).to.equal('200 The report')
      const to = 'https://example.com/a?b=c&amp;d=%20#e'
      expect(page.text).to.include(`<noscript><meta http-equiv="refresh" content="10;url=${to}"`)
      expect(page.text).to.match(/<b id="left" role="timer">10<\/b>/)
      expect(page.text).to.include(`<a id="go" class="button" href="${to}"`)
      expect(policyOf(page)).to.deep.equal({ ...strict, 'style-src': 'own own', 'script-src': 'own' })
    })

    it('shows the custom page with all it has', async () => {
      const id = await made('splash', {
        name: 'Spring',
        title: 'Spring & sale',
        message: 'Until <Sunday>',
        logo: 'https://cdn.example.com/logo.png',
        banner: 'https://images.example.org/banner.png',
        product: 'https://shop.example.net/?a=1&b=2',
        counter: 3,
      })
      for (const type of [id, String(id), `splash-${id}`]) {
        const page = await visit((await add({ type })).path)
        expect(page.text).to.include('Spring &amp; sale').and.include('Until &lt;Sunday&gt;')
        expect(page.text).to.match(/<img class="logo" src="https:\/\/cdn\.example\.com\/logo\.png"/)
        expect(page.text).to.match(/<img class="banner" src="https:\/\/images\.example\.org\/banner\.png"/)
        expect(page.text.match(/<a href="https:\/\/shop\.example\.net\/\?a=1&amp;b=2"/g)).to.have.length(2)
        expect(page.text)
          .to.include('content="3;url=')
          .and.match(/id="left"[^>]*>3</)
        expect(policyOf(page)['img-src']).to.equal('https://cdn.example.com https://images.example.org')
      }
    })
  })

  describe('by an overlay', () => {
    const shown = async (body: object) => visit((await add({ type: `overlay-${await made('overlay', body)}` })).path)

    it('shows the destination in a frame, and what the overlay says on it', async () => {
      const page = await shown({
        ...message,
        message: 'Read <this>',
        label: 'Read & learn',
        color: '#123456',
        position: 'tr',
      })
      expect(page.text)
        .to.match(/<iframe[^>]*src="https:\/\/example\.com\/a/)
        .and.match(/<details class="cta tr" open>/)
      expect(page.text).to.include('Read &lt;this&gt;').and.include('--own:#123456')
      expect(page.text).to.match(/<a class="button" href="https:\/\/example\.com\/guide"[^>]*>Read &amp; learn</)
      expect(policyOf(page)).to.deep.equal({
        ...strict,
        'style-src': 'own own own',
        'frame-src': 'https://example.com https://www.example.com',
      })
    })

    it('shows an image, a coupon and each of the forms as what they are', async () => {
      const image = await shown({
        type: 'image',
        name: 'A picture',
        image: 'https://cdn.example.com/a.png',
        link: long,
      })
      expect(image.text).to.match(
        /<a href="https:\/\/example\.com\/a[^"]*"[^>]*>\s*<img src="https:\/\/cdn\.example\.com\/a\.png" alt="A picture"/,
      )
      expect(policyOf(image)['img-src']).to.equal('https://cdn.example.com')
      expect((await shown({ type: 'coupon', name: 'c', coupon: 'SPRING-10' })).text).to.match(/<code[^>]*>SPRING-10</)
      const names = ({ text }: Answer) =>
        [...text.matchAll(/ name="(\w+)"[^>]*(?:type="(email|radio)"|><)?/g)].map(([, name]) => name)
      const hidden = ['link', 'to', 'sign', 'website']
      expect(names(await shown({ type: 'contact', name: 'c' }))).to.include.members([
        'name',
        'email',
        'message',
        ...hidden,
      ])
      expect(names(await shown({ type: 'newsletter', name: 'n' }))).to.include.members(['email', ...hidden])
      const poll = await shown({ type: 'poll', name: 'p', question: 'Tea?', options: ['Yes', 'N"o'] })
      expect(poll.text)
        .to.match(/<legend[^>]*>Tea\?<\/legend/)
        .and.include('value="Yes"')
        .and.include('value="N&quot;o"')
    })

    it('is shown alone, with a way on, where the destination cannot be framed', async () => {
      const { path } = await add({ type: `overlay-${await made('overlay', message)}`, url: 'http://plain.example/' })
      const page = await visit(path, {}, secure)
      expect(page.text).to.include('Read our guide').and.not.include('<iframe')
      expect(page.text).to.match(/<a href="http:\/\/plain\.example\/"[^>]*>Open directly</)
    })
  })

  describe('past pixels', () => {
    const all = async () =>
      Promise.all(PixelType.options.map(async (type) => made('pixel', { type, name: type, tag: `TAG-${type}/9` })))
    const fires = ({ text }: Answer) =>
      JSON.parse(
        (/data-fires="([^"]*)"/.exec(text)?.[1] ?? '[]').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
      ) as {
        image?: string
        script?: string
        tag?: string
      }[]

    it('fires each type at its own network, which the page lets and nobody else', async () => {
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
        const page = await visit((await add({ pixels: [await made('pixel', { type, name: 'p', tag })] })).path)
        expect(page.status, type).to.equal(200)
        const [fire] = fires(page)
        const address = new URL(fire?.image ?? fire?.script ?? '')
        expect([address.origin, address.href.includes(tag)], type).to.deep.equal([host, true])
        const policy = policyOf(page)
        expect(policy, type).to.include({ ...strict, 'style-src': 'own' })
        expect(policy[fire?.image ? 'img-src' : 'script-src'], type).to.include(host)
        if (fire?.image) expect(policy['script-src'], type).to.equal('own')
        expect(policy).not.to.have.property('frame-src')
      }
    })

    it('goes on without script at once, and has a link for who waits', async () => {
      const page = await visit((await add({ pixels: await all() })).path)
      const to = 'https://example.com/a?b=c&amp;d=%20#e'
      expect(page.text).to.include(`<noscript><meta http-equiv="refresh" content="0;url=${to}"`)
      expect(page.text).to.include(`<a id="go" class="button" href="${to}"`)
      expect(page.headers.get('Referrer-Policy')).to.equal('no-referrer')
      expect(fires(page)).to.have.length(14)
    })

    it('fires nothing for who does not want to be tracked, on whichever page', async () => {
      const pixels = await all()
      const [direct, framed, splash] = await Promise.all([
        add({ pixels }),
        add({ pixels, type: 'frame' }),
        add({ pixels, type: 'splash' }),
      ])
      for (const header of ['Sec-GPC', 'DNT']) {
        expect(answered(await visit(direct.path, { [header]: '1' }))).to.equal(`302 ${long}`)
        expect((await visit(direct.path, { [header]: '0' })).status).to.equal(200)
        for (const { path } of [framed, splash]) {
          expect(fires(await visit(path))).to.have.length(14)
          const page = await visit(path, { [header]: '1' })
          expect(page.text).not.to.include('data-fires')
          expect(page.headers.get('Content-Security-Policy')).not.to.include('facebook')
        }
      }
    })

    it('is a redirect for a program that draws cards', async () => {
      const { path } = await add({ pixels: await all() })
      expect(answered(await visit(path, { 'User-Agent': agents.slack }))).to.equal(`302 ${long}`)
    })

    it('is a redirect again when the pixels are deleted', async () => {
      const id = await made('pixel', { type: 'bing', name: 'p', tag: '123' })
      const { path } = await add({ pixels: [id] })
      expect((await visit(path)).status).to.equal(200)
      await app.del(`/api/pixel/${id}/delete`, { key })
      expect(answered(await visit(path))).to.equal(`302 ${long}`)
    })
  })

  describe('of a link with words for cards', () => {
    it('is a page of them for the programs that draw cards, and a redirect for everybody else', async () => {
      const image = 'https://cdn.example.com/a.png'
      for (const type of ['direct', 'frame', 'splash']) {
        const { path } = await add({ type, metatitle: 'T "1"', metadescription: 'D <2>', metaimage: image })
        for (const agent of [agents.facebook, agents.slack]) {
          const page = await visit(path, { 'User-Agent': agent })
          expect(page.status).to.equal(200)
          for (const [name, content] of [
            ['property="og:title"', 'T &quot;1&quot;'],
            ['property="og:description"', 'D &lt;2&gt;'],
            ['name="description"', 'D &lt;2&gt;'],
            ['property="og:image"', image],
            ['name="twitter:card"', 'summary_large_image'],
          ])
            expect(page.text, name).to.include(`<meta ${name} content="${content}"`)
          expect(page.text).not.to.include('refresh').and.not.include('noindex').and.not.include('<iframe')
          expect(policyOf(page)).to.deep.equal({ ...strict, 'style-src': 'own' })
        }
        for (const agent of [agents.person, agents.googlebot, agents.iphone])
          if (type === 'direct') expect(answered(await visit(path, { 'User-Agent': agent }))).to.equal(`302 ${long}`)
      }
    })

    it('is a redirect for them too when there are none', async () => {
      const { path } = await add({ title: 'Only for me' })
      expect(answered(await visit(path, { 'User-Agent': agents.facebook }))).to.equal(`302 ${long}`)
    })

    it('is a visit, and not a click, when a card is drawn', async () => {
      const { id, path } = await add({ metatitle: 'T' })
      await visit(path, { 'User-Agent': agents.facebook })
      await visit(path)
      expect(
        await until(
          () => clicks(id),
          (count) => count > 0,
        ),
      ).to.equal(1)
      const { json } = await app.get(`/api/url/${id}/stats`, { key })
      expect(json['data'].total).to.include({ clicks: 1, visits: 2 })
    })
  })

  describe('that is a page', () => {
    const kinds = async () => {
      const pixels = [await made('pixel', { type: 'bing', name: 'p', tag: '123' })]
      const overlay = `overlay-${await made('overlay', message)}`
      return { frame: { type: 'frame' }, splash: { type: 'splash' }, overlay: { type: overlay }, pixels: { pixels } }
    }

    it('counts once when it is served with GET, and not with HEAD', async () => {
      for (const [kind, body] of Object.entries(await kinds())) {
        const { id, path } = await add(body)
        const head = await app.ask('HEAD', path, { headers: { 'User-Agent': agents.person } })
        expect([head.status, head.text], kind).to.deep.equal([200, ''])
        const page = await visit(path)
        for (const name of ['Content-Security-Policy', 'Content-Type'])
          expect(head.headers.get(name)).to.equal(page.headers.get(name))
        // what leads on is the destination itself
        for (const [, to = ''] of page.text.matchAll(/(?:href|src|action)="([^"]*)"/g))
          expect(to, kind).to.match(/^https:\/\/example\.com\/|^\/o\/\d+$/)
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

    it('is answered in JSON with where it leads', async () => {
      for (const [kind, body] of Object.entries(await kinds())) {
        const { status, json } = await visit((await add(body)).path, { Accept: 'application/json' })
        expect(status, kind).to.equal(200)
        expect(json, kind).to.include({ error: 0, url: long })
      }
    })

    it('has headers that nobody keeps (threats 14 and 37)', async () => {
      for (const [kind, body] of Object.entries(await kinds())) {
        const { headers } = await visit((await add(body)).path)
        const given = Object.fromEntries(
          [...headers].filter(
            ([name]) => !/^(connection|content-length|date|keep-alive|content-security-policy)$/.test(name),
          ),
        )
        expect(given, kind).to.deep.equal({
          'cache-control': 'private, no-store',
          'content-type': 'text/html; charset=utf-8',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          vary: 'Accept',
        })
      }
    })

    it('leads to the target that is for this visitor, with the parameters', async () => {
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
          if (kind === 'frame')
            expect(given.get('Content-Security-Policy')).to.include(`frame-src ${new URL(to).origin}`)
          for (const not of ['phone', 'canada', 'french'].filter((name) => !to.includes(name)))
            expect(text).not.to.include(`${not}.example`)
        }
      }
    })

    it('takes no destination from the query (threat 3)', async () => {
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

    it('ends when its destination has become one of our own addresses (threat 2)', async () => {
      const made_ = await Promise.all(
        Object.values(await kinds()).map((body, i) => add({ ...body, url: `https://ours-${i}.example/x` })),
      )
      for (const [i, { id, path }] of made_.entries()) {
        expect((await visit(path)).status).to.equal(200)
        await api('/api/domain/add', { domain: `https://ours-${i}.example` })
        expect(answered(await visit(path))).to.equal('410 This link no longer works')
        const counted = () => clicks(id)
        expect(await until(counted, (count) => count > 0)).to.equal(1)
      }
    })

    it('ends by the time of the request when the link expires (fault 58)', async () => {
      const expiry = inSeconds(60)
      const paths = await Promise.all(
        Object.values(await kinds()).map(async (body) => (await add({ ...body, expiry })).path),
      )
      for (const path of paths) expect((await visit(path)).status).to.equal(200)
      await secondsLater(61, async () => {
        for (const path of paths) expect(answered(await visit(path))).to.equal('410 This link has expired')
      })
    })
  })

  describe('of a protected link (fault 60)', () => {
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

    it('is the form, however one comes, until the word is known; and then what it is for that visitor', async () => {
      const splash = await made('splash', { name: 's', title: 'secret-words' })
      const overlay = await made('overlay', { ...message, message: 'secret-words' })
      const pixels = [await made('pixel', { type: 'fbpixel', name: 'p', tag: 'secret-words' })]
      const { id: campaign, rotator } = await api('/api/campaign/add', { name: 'c', public: true })
      for (const type of ['direct', 'frame', 'splash', `splash-${splash}`, `overlay-${overlay}`]) {
        const words = { title: 'secret-words', metatitle: 'secret-words', metadescription: 'secret-words' }
        const { id, path } = await add({ type, pixels, password: word, campaign, ...targets, ...words })
        const { link: image } = await api('/api/qr/add', { type: 'link', data: app.app.baseUrl + path })
        const scanned = await visit(`${new URL(String(image)).pathname}/go`)
        expect(new URL(scanned.headers.get('Location') ?? '').pathname).to.equal(path)
        const drawn = await visit(new URL(String(rotator)).pathname)
        expect(answered(drawn)).to.equal(`302 ${app.app.baseUrl}${path}`)

        const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
        const { headers } = await app.post(path, { body: `password=${word}`, headers: form })
        const cookie = headers.get('Set-Cookie')!.split(';')[0]!
        for (const [who, to] of visitors) {
          for (const method of who['Accept'] ? ['GET'] : ['GET', 'HEAD'])
            for (const given of ['', `ll_${id}=1.x`, cookie.replace(`ll_${id}`, `ll_${id + 1}`)]) {
              const locked = await app.ask(method, path, {
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
        for (const at of [app, other]) {
          const closed = await until(
            () => visit(path, { Cookie: cookie }, at),
            ({ text }) => text.includes('name="password"'),
          )
          expect(closed.text, 'with the old cookie').to.include('name="password"')
        }
        await app.del(`/api/url/${id}/delete`, { key })
      }
    }).timeout(60_000)
  })

  describe('that its owner changes', () => {
    const soon = async (path: string, wished: (answer: Answer) => boolean, what: string) => {
      for (const at of [app, other]) {
        const answer = await until(() => visit(path, {}, at), wished, 5000)
        expect(wished(answer), `${what}: ${answer.text.slice(-800)}`).to.equal(true)
      }
    }
    const says = (text: string) => (answer: Answer) => answer.text.includes(text)
    const redirects = ({ status }: Answer) => status === 302

    const changes = async () => {
      const splash = await made('splash', { name: 's', title: 'Before-s' })
      const overlay = await made('overlay', { ...message, message: 'Before-o' })
      const pixel = await made('pixel', { type: 'bing', name: 'p', tag: 'Before-p' })
      const links = [{ type: `splash-${splash}` }, { type: `overlay-${overlay}` }, { pixels: [pixel] }]
      const [s, o, p] = await Promise.all(links.map(async (body) => (await add(body)).path))
      const put = (path: string, body: object) => app.put(path, { key, body })
      const steps: [string, () => Promise<Answer>, (answer: Answer) => boolean][] = [
        [s!, () => put(`/api/splash/${splash}/update`, { title: 'After-s' }), says('After-s')],
        [o!, () => put(`/api/overlay/${overlay}/update`, { message: 'After-o' }), says('After-o')],
        [p!, () => put(`/api/pixel/${pixel}/update`, { tag: 'After-p' }), says('After-p')],
        [s!, () => app.del(`/api/splash/${splash}/delete`, { key }), redirects],
        [o!, () => app.del(`/api/overlay/${overlay}/delete`, { key }), redirects],
        [p!, () => app.del(`/api/pixel/${pixel}/delete`, { key }), redirects],
      ]
      for (const [path, what] of [
        [s!, 'Before-s'],
        [o!, 'Before-o'],
        [p!, 'Before-p'],
      ] as const)
        await soon(path, says(what), what)
      return steps
    }

    it('is shown as it is now, in every process (fault 59)', async () => {
      for (const [path, change, wished] of await changes()) {
        expect((await change()).status).to.equal(200)
        expect(wished(await visit(path)), 'where it was written').to.equal(true)
        await soon(path, wished, path)
      }
    })

    it('is so too while the tables are late, also on a link that was made meanwhile', async () => {
      const steps = await changes()
      const splash = await made('splash', { name: 's', title: 'Standing-s' })
      const overlay = await made('overlay', { ...message, message: 'Standing-o' })
      const pixel = await made('pixel', { type: 'bing', name: 'p', tag: 'Standing-p' })
      const holder = await stage.connect(app.connection)
      await holder.query('begin; select * from read.checkpoints for update')
      const writes: Promise<Answer>[] = []
      for (const [path, change, wished] of steps) {
        writes.push(change())
        await soon(path, wished, path)
      }
      for (const [body, text] of [
        [{ type: `splash-${splash}` }, 'Standing-s'],
        [{ type: `overlay-${overlay}` }, 'Standing-o'],
        [{ pixels: [pixel] }, 'Standing-p'],
        [{ type: 'frame', title: 'Standing-f' }, 'Standing-f'],
      ] as const) {
        const custom = `late-${++n}`
        writes.push(app.post('/api/url/add', { key, body: { url: long, custom, ...body } }))
        await soon(`/${custom}`, says(text), text)
      }
      for (const { status, headers } of await Promise.all(writes))
        expect([status, headers.get('X-Projection-Pending')]).to.deep.equal([200, '1'])
      await holder.query('rollback')
      for (const [path, , wished] of steps.slice(3)) await soon(path, wished, path)
    })
  })
})
