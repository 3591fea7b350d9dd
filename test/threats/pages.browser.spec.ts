import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { payloads, payloadUrls } from '../data/payloads.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Browser, needsBrowser, openBrowser } from '../support/browser.ts'
import { long as thorough } from '../support/faults.ts'

const benign = 'An ordinary text'

/** Returns the text as browsers normalize its line ends. */
const kept = (text: string) => text.replaceAll(/\r\n?/g, '\n')
const texts = (selector: string) => `[...document.querySelectorAll('${selector}')].map((e) => e.textContent)`
/** The elements of a page, and the names of their attributes. */
const shape = `[...document.querySelectorAll('*')].map((e) => [e.localName, ...e.getAttributeNames()].join(' ')).join(', ')`
/** The policy of the page forbids `eval` in its frame, so the page is looked at from outside. */
const lookAt = `((window, document) => ({
  canary: 'canary' in window,
  shape: ${shape},
  title: document.title,
  heading: ${texts('h1')}.join(),
  paragraph: ${texts('p:not(.actions, .foot p)')}.join(),
  bold: ${texts('b')}.join(),
  over: ${texts('aside h2')}.join(),
  links: ${texts('main li a b')},
  targets: [...document.querySelectorAll('main li a')].map((e) => e.href),
  description: document.querySelector('meta[name=description]')?.content,
  picture: document.querySelector('img')?.getAttribute('src'),
}))`
const look = `${lookAt}(window, document)`
/** What each frame shows, when all have their documents: null for one that has navigated to another site. */
const lookAtFrames = (count: number) => `(async () => {
  const frames = document.getElementsByTagName('iframe')
  const isThere = ({ contentDocument: page }) => !page || (page.readyState !== 'loading' && page.querySelector('title'))
  // a page whose frames navigate counts as loaded before it has all frames
  while (frames.length < ${count} || ![...frames].every(isThere)) await new Promise((done) => setTimeout(done, 10))
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  return [...frames].map((frame) => frame.contentDocument && ${lookAt}(frame.contentWindow, frame.contentDocument))
})()`
interface Look {
  readonly canary: boolean
  readonly shape: string
  readonly title: string
  readonly heading: string
  readonly paragraph: string
  readonly bold: string
  readonly over: string
  readonly links: readonly string[]
  readonly targets: readonly string[]
  readonly description?: string
  readonly picture?: string
}

describe('stored texts in Chromium', function () {
  this.timeout(300_000)
  let app: TestApp
  let key: string
  let n = 0
  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1' })
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const post = async (path: string, body: object) => {
    const { status, json } = await app.post(path, { key, body })
    expect(status, JSON.stringify([body, json])).to.equal(200)
    return json
  }
  /** Creates a bio page with the same text in every field. */
  const bioOf = async (text: string, urls: readonly string[] = ['https://example.com/']) => {
    const links = urls.map((url) => ({ title: text, url }))
    const alias = `page-${++n}`
    await post('/api/bio/add', { name: text, alias, title: text, description: text, links })
    return `/${alias}`
  }

  let browser: Browser
  /**
   * serves `/frames` and what it shows: the pages of the service without their Content-Security-Policy, or with
   * `?policy` with a policy that differs from theirs only in that it allows the frame, and pages that escape nothing
   */
  let bare: Server
  /** what the page `/frames` shows, each in a frame */
  let frames: readonly string[] = []
  let bareAddress: string
  before(async function () {
    needsBrowser(this)
    browser = await openBrowser()
    bare = createServer((req, res) => {
      if (!['document', 'iframe'].includes(String(req.headers['sec-fetch-dest']))) return void res.writeHead(404).end()
      const { pathname, searchParams } = new URL(req.url ?? '', 'http://x')
      const text = searchParams.get('unescaped')
      const answer = async (): Promise<readonly [html: string, policy: string]> => {
        if (pathname === '/frames') return [frames.map((path) => `<iframe src="${path}"></iframe>`).join(''), '']
        if (text !== null) return [unescaped(text), `default-src 'none'`]
        const page = await app.visit(pathname, { 'User-Agent': req.headers['user-agent'] ?? '' })
        const policy = page.headers.get('Content-Security-Policy') ?? ''
        return [page.text, policy.replace(`frame-ancestors 'none'`, 'frame-ancestors *')]
      }
      void answer().then(([html, policy]) => {
        const headers = searchParams.has('policy') ? { 'Content-Security-Policy': policy } : {}
        res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...headers }).end(html)
      })
    })
    await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve))
    bareAddress = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`
  })
  after(async () => {
    await browser?.close()
    bare?.close()
  })

  /** Returns a page with a text in all places where it may do harm. */
  const unescaped = (text: string) =>
    `<!doctype html><title>${text}</title><style>/*${text}*/</style><p>${text}</p><input value="${text}"><input value='${text}'>
     <input value=${text}><a href="${text}">x</a><!--${text}--><textarea>${text}</textarea>
     <script>const a = "${text}"</script><script>const b = '${text}'</script><script>const c = \`${text}\`</script>`

  /**
   * Returns a twentieth of the texts, from number `nth` on, or all of them with FAULTS=long. Only the bio page is
   * always tested with all texts.
   */
  const some = (nth: number) => (thorough ? payloads : payloads.filter((_, i) => i % 20 === nth))

  /**
   * Looks at pages of the bare server, many at once, which is ten times faster than one after another: undefined for a
   * page that navigated away.
   */
  const lookInFrames = async (paths: readonly string[]) => {
    frames = paths
    const seen = await browser.visit<readonly (Look | null)[]>(`${bareAddress}/frames`, lookAtFrames(paths.length))
    expect(seen.value).to.have.length(paths.length)
    return { ...seen, value: seen.value.map((page) => page ?? undefined) }
  }

  /**
   * Expects of each page, by what it shows, that nothing would run without its policy, and of the first two that the
   * policy has nothing to block. The first one is also visited at the service itself. With FAULTS=long, all pages are
   * looked at in each way.
   */
  const allHarmless = async (pages: ReadonlyMap<string, string>) => {
    const paths = [...pages.values()]
    const { value: without } = await lookInFrames(paths)
    const withPolicy = await lookInFrames((thorough ? paths : paths.slice(0, 2)).map((path) => `${path}?policy`))
    expect(withPolicy).to.deep.include({ dialogs: 0, problems: [] })
    const shown = new Map<string, Look>()
    for (const [i, [what, path]] of [...pages].entries()) {
      const seen = without[i]!
      expect(seen, what).to.deep.include({ canary: false })
      if (i < withPolicy.value.length)
        expect(withPolicy.value[i], what).to.deep.include({ canary: false, shape: seen.shape })
      if (i === 0 || thorough) {
        const alone = await browser.visit<Look>(app.address + path, look)
        expect(alone, what).to.deep.include({ dialogs: 0, problems: [] })
        expect(alone.value, what).to.deep.include({ canary: false, shape: seen.shape })
      }
      shown.set(what, seen)
    }
    return shown
  }
  const harmless = async (path: string, what: string) => (await allHarmless(new Map([[what, path]]))).get(what)!

  it('would mostly run as scripts on a page that escapes nothing', async () => {
    const tried = thorough ? payloads : payloads.filter((_, i) => i % 4 === 0)
    const paths = tried.map((text) => `/?unescaped=${encodeURIComponent(text)}`)
    const { value: seen } = await lookInFrames(paths)
    // one navigates away before the page can be inspected; those that need the focus do not run in a frame
    const ran = seen.filter((page) => page === undefined || page.canary)
    expect(ran).to.have.length.above(tried.length / 2)

    const { value: refused, problems } = await lookInFrames(paths.slice(0, 5).map((path) => `${path}&policy`))
    expect(refused.map((page) => page?.canary)).to.deep.equal(Array.from({ length: 5 }, () => false))
    expect(problems).to.have.length.above(5)
  })

  it('are shown as text on a bio page, in every place', async () => {
    const paths = await Promise.all([benign, ...payloads].map(async (text) => [text, await bioOf(text)] as const))
    const seen = await allHarmless(new Map(paths))
    for (const [text, page] of seen) {
      expect(page.shape, JSON.stringify(text)).to.equal(seen.get(benign)!.shape)
      const written = kept(text)
      expect(page).to.deep.include({ heading: written, paragraph: written, description: written })
      // the host of the entry comes after its title
      expect(page.links.map((link) => link.replace(/\s+example\.com$/, '').trim())).to.deep.equal([written.trim()])
      // browsers collapse white space in a title
      expect(page.title.replaceAll(/\s+/g, '')).to.equal(written.replaceAll(/\s+/g, ''))
    }
  })

  it('are only URLs in the links and the picture of a bio page', async () => {
    const pages = new Map([['links', await bioOf(benign, payloadUrls)]])
    for (const avatar of payloadUrls) {
      const alias = `page-${++n}`
      await post('/api/bio/add', { name: benign, alias, links: [], avatar })
      pages.set(avatar, `/${alias}`)
    }
    const seen = await allHarmless(pages)
    // an entry has an address of its own, which redirects
    const entries = seen.get('links')!.targets.map((target) => new URL(target).pathname)
    const answers = await Promise.all(entries.map((path) => app.visit(path)))
    expect(answers.map(({ headers }) => new URL(headers.get('Location') ?? '').href)).to.deep.equal(
      payloadUrls.map((url) => new URL(url).href),
    )
    for (const avatar of payloadUrls) expect(seen.get(avatar)!.picture).to.equal(new URL(avatar).href)
  })

  describe('on interstitial pages', () => {
    const words = (text: string) => ({ title: text, description: text, metatitle: text, metadescription: text })
    const linkOf = async (body: object, url = 'https://example.com/') => {
      const { short } = await post('/api/url/add', { url, ...body })
      return new URL(String(short)).pathname
    }
    const alike = async (
      texts: readonly string[],
      pageOf: (text: string) => Promise<string>,
      shows: (page: Look, text: string) => unknown,
    ) => {
      const pages = new Map<string, string>()
      for (const text of [benign, ...texts]) pages.set(text, await pageOf(text))
      const seen = await allHarmless(pages)
      for (const [text, page] of seen) {
        expect(page.shape, JSON.stringify(text)).to.equal(seen.get(benign)!.shape)
        shows(page, kept(text))
      }
    }
    afterEach(async () => {
      await browser.setUserAgent('')
      await browser.block()
    })

    it('are shown as text on a splash page', () =>
      alike(
        some(3),
        async (text) => {
          const { id } = await post('/api/splash/add', { name: text, title: text, message: text, counter: 60 })
          return linkOf({ ...words(text), type: `splash-${String(id)}` })
        },
        (page, text) => {
          expect(page).to.deep.include({ heading: text, description: text })
          expect(page.paragraph).to.include(text)
        },
      ))

    it('are shown as text in the title of a page with a framed destination, and not above it', () =>
      alike(
        some(0),
        (text) => linkOf({ ...words(text), type: 'frame' }),
        (page, text) =>
          expect(page).to.deep.include({
            heading: 'example.com',
            bold: 'example.com',
            description: text,
            title: text.replaceAll(/[\t\n\f ]+/g, ' ').replaceAll(/^ | $/g, ''),
          }),
      ))

    for (const [nth, type] of (['poll', 'coupon', 'image'] as const).entries())
      it(`are shown as text on an overlay of type ${type}`, () =>
        alike(
          some(nth),
          async (text) => {
            const fields = {
              question: text,
              options: ['Another', text],
              coupon: text,
              image: payloadUrls[1],
              link: payloadUrls[1],
            }
            const { id } = await post('/api/overlay/add', { type, name: text, message: text, label: text, ...fields })
            return linkOf({ ...words(text), type: `overlay-${String(id)}` })
          },
          (page, text) => {
            expect(page.paragraph).to.include(text)
            expect(page.over).to.equal(text)
          },
        ))

    it('with a run of marks are drawn inside of their place: no page is wider, and nothing lies over a button', async () => {
      const marks = `a${'\u0332\u0347\u031A\u0489'.repeat(60)}`
      const fields = { name: marks, title: marks, message: marks, label: marks.slice(0, 60) }
      const splash = await post('/api/splash/add', fields)
      const overlay = await post('/api/overlay/add', { ...fields, type: 'contact' })
      const types = [`splash-${String(splash['id'])}`, `overlay-${String(overlay['id'])}`]
      const list = await post('/api/campaign/add', { name: marks, public: true })
      const paths = [
        await bioOf(marks),
        ...(await Promise.all(types.map((type) => linkOf({ ...words(marks), type })))),
        new URL(String(list['list'])).pathname,
      ]
      await linkOf({ ...words(marks), campaign: list['id'] })
      for (const width of [360, 1200])
        for (const path of paths) {
          await browser.show(width, 'light')
          const { value } = await browser.visit<readonly [number, readonly string[]]>(
            app.address + path,
            `[document.documentElement.scrollWidth - innerWidth, [...document.querySelectorAll('body *')].filter((e) =>
              e.scrollWidth > e.clientWidth && !['inline', 'none'].includes(getComputedStyle(e).display) && e.clientWidth > 1 &&
              getComputedStyle(e).overflowX === 'visible').map((e) => e.outerHTML.slice(0, 60))]`,
          )
          expect(value, `${path} ${width}`).to.deep.equal([0, []])
        }
    })

    it('are shown as text on the page for previewers', async () => {
      await browser.setUserAgent('Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)')
      await alike(
        some(1),
        (text) => linkOf(words(text)),
        (page, text) => expect(page).to.deep.include({ heading: text, paragraph: text, description: text }),
      )
    })

    it('are shown as text on the pixel page', async () => {
      // the page stays where it is, because the destination does not answer
      await browser.block('empty', 'https://example.com/*')
      const { id } = await post('/api/pixel/add', { type: 'bing', name: benign, tag: '123' })
      await alike(
        some(2),
        (text) => linkOf({ ...words(text), pixels: [id] }),
        (page, text) =>
          expect({ ...page, heading: page.heading.trim().replaceAll(/\s+/g, ' ') }).to.deep.include({
            heading: 'Redirecting to example.com',
            description: text,
          }),
      )
    })

    it('are only URLs wherever a page links to them or shows them', async () => {
      const { id: pixel } = await post('/api/pixel/add', { type: 'bing', name: benign, tag: '123' })
      const urls = thorough ? payloadUrls : payloadUrls.filter((_, i) => i % 4 === 0)
      const pages: Record<string, [url: string, path: string][]> = { splash: [], pixels: [], frame: [], overlay: [] }
      for (const url of ['https://example.com/plain', ...urls]) {
        const pictures = { logo: url, banner: url, product: url }
        const { id: splash } = await post('/api/splash/add', { name: benign, ...pictures, counter: 60 })
        const image = { type: 'image', name: benign, image: url, link: url }
        const { id: overlay } = await post('/api/overlay/add', image)
        for (const [kind, body] of Object.entries({
          splash: { type: `splash-${String(splash)}` },
          pixels: { pixels: [pixel] },
          frame: { type: 'frame' },
          overlay: { type: `overlay-${String(overlay)}` },
        }))
          pages[kind]!.push([url, await linkOf(body, url)])
      }
      for (const [kind, ofKind] of Object.entries(pages)) {
        // the browser would wait for a blocked frame
        if (kind === 'pixels') await browser.block('empty', 'https://example.com/*')
        else await browser.block()
        const [plain, ...others] = (await allHarmless(new Map(ofKind))).entries()
        // the path is shown below the host when there is one
        const shapeOf = ({ shape }: Look) => shape.replace('p class, bdi class dir, ', '')
        for (const [url, page] of others) expect(shapeOf(page), `${kind} ${url}`).to.equal(shapeOf(plain![1]))
      }
    })
  })

  it('are shown as text on the list of a campaign, in every place', async () => {
    const listOf = async (name: string, texts: readonly string[]) => {
      const { id, list } = await post('/api/campaign/add', { name, public: true })
      const links = texts.map((text, i) => (i % 2 ? { title: text } : { metatitle: text }))
      await Promise.all(
        links.map((link) => post('/api/url/add', { url: 'https://example.com/', campaign: id, ...link })),
      )
      return new URL(String(list)).pathname
    }
    const [ordinary, all, ...named] = await Promise.all([
      listOf(
        benign,
        payloads.map(() => benign),
      ),
      listOf(benign, payloads),
      ...some(4).map((text) => listOf(text, [benign])),
    ])
    const page = await harmless(all!, 'titles of links')
    expect(page.shape).to.equal((await harmless(ordinary!, benign)).shape)
    expect(page.links).to.have.members(payloads.map(kept))
    const seen = await allHarmless(new Map(some(4).map((text, i) => [text, named[i]!])))
    for (const [text, { heading, links }] of seen) expect([heading, links.length]).to.deep.equal([kept(text), 1])
  })
})
