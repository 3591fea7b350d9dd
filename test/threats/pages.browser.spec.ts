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
const look = `({
  canary: 'canary' in window,
  shape: ${shape},
  title: document.title,
  heading: ${texts('h1')}.join(),
  paragraph: ${texts('p')}.join(),
  bold: ${texts('b')}.join(),
  links: ${texts('li a')},
  targets: [...document.querySelectorAll('li a')].map((e) => e.href),
  description: document.querySelector('meta[name=description]')?.content,
  picture: document.querySelector('img')?.getAttribute('src'),
})`
interface Look {
  readonly canary: boolean
  readonly shape: string
  readonly title: string
  readonly heading: string
  readonly paragraph: string
  readonly bold: string
  readonly links: readonly string[]
  readonly targets: readonly string[]
  readonly description?: string
  readonly picture?: string
}

describe('stored texts in Chromium (threat 12, fault 35)', function () {
  this.timeout(120_000)
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
  /** serves the pages of the service without their Content-Security-Policy, pages that escape nothing, and `/frames` */
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
      const agent = req.headers['user-agent'] ?? ''
      const answer =
        pathname === '/frames'
          ? Promise.resolve(frames.map((path) => `<iframe src="${path}"></iframe>`).join(''))
          : text === null
            ? app.visit(pathname, { 'User-Agent': agent }).then((page) => page.text)
            : Promise.resolve(unescaped(text))
      void answer.then((html) => res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(html))
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

  /** Returns a fifth of the texts, from number `nth` on, or all of them with FAULTS=long. Only the bio page is always tested with all texts. */
  const some = (nth: number) => (thorough ? payloads : payloads.filter((_, i) => i % 5 === nth))

  /** Looks at pages of the bare server, many at once, which is ten times faster than one after another: undefined for a page that navigated away. */
  const lookWithoutPolicy = async (paths: readonly string[]) => {
    frames = paths
    const inFrame = `(frame) => { try { return frame.contentWindow.eval(${JSON.stringify(look)}) } catch { return null } }`
    const all = `[...document.querySelectorAll('iframe')].map(${inFrame})`
    const { value } = await browser.visit<readonly (Look | null)[]>(`${bareAddress}/frames`, all)
    expect(value).to.have.length(paths.length)
    return value.map((seen) => seen ?? undefined)
  }

  /** Expects that nothing runs, and that the policy has nothing to block. */
  const harmlessWithPolicy = async (path: string, what: string) => {
    const seen = await browser.visit<Look>(app.address + path, look)
    expect(seen, what).to.deep.include({ dialogs: 0, problems: [] })
    expect(seen.value.canary, what).to.equal(false)
    return seen.value
  }
  const harmlessWithout = (without: Look | undefined, seen: Look, what: string) => {
    expect(without, what).to.deep.include({ canary: false, shape: seen.shape })
    return seen
  }
  /** Expects that nothing runs, that the policy has nothing to block, and that nothing would run without the policy either. */
  const harmless = async (path: string, what: string) => {
    const seen = await harmlessWithPolicy(path, what)
    return harmlessWithout((await browser.visit<Look>(bareAddress + path, look)).value, seen, what)
  }
  /** The same for many pages, by what each one shows. They must not navigate away. */
  const allHarmless = async (pages: ReadonlyMap<string, string>) => {
    const seen: Look[] = []
    for (const [what, path] of pages) seen.push(await harmlessWithPolicy(path, what))
    const without = await lookWithoutPolicy([...pages.values()])
    return new Map([...pages.keys()].map((what, i) => [what, harmlessWithout(without[i], seen[i]!, what)]))
  }

  it('would mostly run as scripts on a page that escapes nothing', async () => {
    const seen = await lookWithoutPolicy(payloads.map((text) => `/?unescaped=${encodeURIComponent(text)}`))
    // one navigates away before the page can be inspected; those that need the focus do not run in a frame
    const ran = seen.filter((page) => page === undefined || page.canary)
    expect(ran).to.have.length.above(payloads.length / 2)
  })

  it('are shown as text on a bio page, in every place', async () => {
    const plain = await harmless(await bioOf(benign), benign)
    const paths = await Promise.all(payloads.map(async (text) => [text, await bioOf(text)] as const))
    for (const [text, page] of await allHarmless(new Map(paths))) {
      expect(page.shape, JSON.stringify(text)).to.equal(plain.shape)
      const written = kept(text)
      expect(page).to.deep.include({ heading: written, paragraph: written, links: [written], description: written })
      // browsers collapse white space in a title
      expect(page.title.replaceAll(/\s+/g, '')).to.equal(written.replaceAll(/\s+/g, ''))
    }
  })

  it('are only URLs in the links and the picture of a bio page', async () => {
    const page = await harmless(await bioOf(benign, payloadUrls), 'links')
    expect(page.targets).to.deep.equal(payloadUrls.map((url) => new URL(url).href))
    for (const avatar of payloadUrls) {
      const alias = `page-${++n}`
      await post('/api/bio/add', { name: benign, alias, links: [], avatar })
      expect((await harmless(`/${alias}`, avatar)).picture).to.equal(new URL(avatar).href)
    }
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
      { navigates = false } = {},
    ) => {
      const pages = new Map<string, string>()
      for (const text of texts) pages.set(text, await pageOf(text))
      const plain = await harmless(await pageOf(benign), benign)
      const seen = navigates ? new Map<string, Look>() : await allHarmless(pages)
      if (navigates) for (const [text, path] of pages) seen.set(text, await harmless(path, text))
      for (const [text, page] of seen) {
        expect(page.shape, JSON.stringify(text)).to.equal(plain.shape)
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

    it('are shown as text above a framed destination', () =>
      alike(
        some(0),
        (text) => linkOf({ ...words(text), type: 'frame' }),
        (page, text) =>
          expect(page).to.deep.include({ description: text }).and.have.property('bold').that.includes(text),
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
          (page, text) => expect(page.paragraph).to.include(text),
        ))

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
        (page, text) => expect(page).to.deep.include({ heading: 'Redirecting to example.com', description: text }),
        { navigates: true },
      )
    })

    it('are only URLs wherever a page links to them or shows them', async () => {
      await browser.block('empty', 'https://example.com/*')
      const { id: pixel } = await post('/api/pixel/add', { type: 'bing', name: benign, tag: '123' })
      const plain = new Map<string, string>()
      const urls = thorough ? payloadUrls : payloadUrls.filter((_, i) => i % 2 === 0)
      for (const url of ['https://example.com/', ...urls]) {
        const { id: splash } = await post('/api/splash/add', {
          name: benign,
          logo: url,
          banner: url,
          product: url,
          counter: 60,
        })
        const image = { type: 'image', name: benign, image: url, link: url }
        const { id: overlay } = await post('/api/overlay/add', image)
        for (const [kind, body] of Object.entries({
          splash: { type: `splash-${String(splash)}` },
          pixels: { pixels: [pixel] },
        })) {
          const page = await harmless(await linkOf(body, url), `${kind} ${url}`)
          plain.set(kind, plain.get(kind) ?? page.shape)
          expect(page.shape, `${kind} ${url}`).to.equal(plain.get(kind))
        }
        // the browser would wait for a blocked frame
        await browser.block()
        for (const [kind, body] of Object.entries({
          frame: { type: 'frame' },
          overlay: { type: `overlay-${String(overlay)}` },
        })) {
          const page = await harmless(await linkOf(body, url), `${kind} ${url}`)
          plain.set(kind, plain.get(kind) ?? page.shape)
          expect(page.shape, `${kind} ${url}`).to.equal(plain.get(kind))
        }
        await browser.block('empty', 'https://example.com/*')
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
    // the destination's host follows the title
    const titles = page.links.map((text) => text.replace(/example\.com$/, ''))
    expect(titles).to.have.members(payloads.map(kept))
    for (const [i, text] of some(4).entries()) {
      const { heading, links } = await harmless(named[i]!, JSON.stringify(text))
      expect([heading, links.length]).to.deep.equal([kept(text), 1])
    }
  })
})
