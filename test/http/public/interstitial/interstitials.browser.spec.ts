import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PixelType } from '../../../../src/events/pages/pixel.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { type Browser, needsBrowser, openBrowser } from '../../../support/browser.ts'
import { until } from '../../../support/client.ts'

/**
 * A page that tries to navigate the window, then shows where it has got to; all of it is a link for the whole window.
 */
const takeover = `<!doctype html><title>there</title><a href="/top" target="_top" style="position:fixed;inset:0">go</a>
<script>try { top.location.href = new URL('/top', location.href).href } catch {} new Image().src = '/tried'</script>`

describe('a visitor with Chromium', () => {
  let app: TestApp
  let key: string
  let browser: Browser
  /** the destination; it records `<what the browser loads> <path> <referrer>` of each request */
  let destination: Server
  let to: string
  let requests: string[] = []
  before(async function () {
    needsBrowser(this)
    app = await startTestApp()
    ;({ key } = await app.register())
    browser = await openBrowser()
    destination = createServer((req, res) => {
      if (req.url !== '/favicon.ico')
        requests.push(`${req.headers['sec-fetch-dest'] as string} ${req.url} ${req.headers.referer ?? '-'}`)
      const refusing = req.url?.startsWith('/refusing') ? { 'X-Frame-Options': 'DENY' } : {}
      const page = req.url === '/takeover' ? takeover : '<!doctype html><title>there</title>'
      res.writeHead(200, { 'Content-Type': 'text/html', ...refusing }).end(page)
    })
    await new Promise<void>((resolve) => destination.listen(0, '127.0.0.1', resolve))
    to = `http://127.0.0.1:${(destination.address() as AddressInfo).port}/there`
  })
  after(async () => {
    await browser?.close()
    destination?.close()
    await app?.close()
  })
  beforeEach(() => {
    requests = []
  })
  afterEach(() => browser.block())

  const api = async (path: string, body: object) => {
    const { status, json, text } = await app.post(path, { key, body })
    expect(status, text).to.equal(200)
    return json
  }
  const create = async (kind: string, body: object) => Number((await api(`/api/${kind}/add`, body))['id'])
  const link = async (body: object) => {
    const { short } = await api('/api/url/add', { url: to, ...body })
    return app.address + new URL(String(short)).pathname
  }
  const arrived = (at: string) => at.startsWith(to)
  /** Clicks when `arrive` already watches which requests are made. */
  const arriveBy = async (selector: string) => {
    const arriving = browser.arrive(undefined, arrived)
    await browser.read(`document.querySelector('${selector}').click()`)
    return arriving
  }

  it('stays on a pixel page and on a splash page without script, and has a link to the destination', async () => {
    const pixels = [await create('pixel', { type: 'bing', name: 'p', tag: '123' })]
    const type = await create('splash', { name: 's', title: 'Wait', counter: 1 })
    for (const address of [await link({ pixels }), await link({ type })]) {
      const { at, problems } = await browser.arrive(address, arrived, { scripts: false, ms: 2500 })
      expect([at, problems]).to.deep.equal([address, []])
      expect(await browser.read(`document.querySelector('#go').href`)).to.equal(to)
      expect(await browser.read(`[...document.querySelectorAll('.countdown, #stay')].every((e) => e.hidden)`)).to.equal(
        true,
      )
    }
  })

  it('can stop the countdown of a splash page, and is led on when the button says so', async () => {
    const type = await create('splash', { name: 's', title: 'Wait', counter: 10 })
    const address = await link({ type })
    await browser.visit(address, `document.querySelector('#stay').click()`)
    // from here on, each look at the clock finds it a second later
    await browser.read(`(() => { let now = performance.now(); performance.now = () => (now += 1000) })()`)
    const { at } = await browser.arrive(undefined, arrived, { ms: 2500 })
    expect(at).to.equal(address)
    expect(await browser.read(`document.querySelector('#said').textContent`)).to.match(/^The redirect is stopped/)
    expect(await browser.read(`document.activeElement.id`)).to.equal('go')
    await browser.read(`document.activeElement.click()`)
    expect((await browser.arrive(undefined, arrived)).at).to.equal(to)
  })

  it('is measured when the redirect starts and not before, and leaves soon even when no network answers', async () => {
    await browser.block('silent', 'https://*')
    const pixels = await Promise.all(
      PixelType.options.map((type) => create('pixel', { type, name: type, tag: `T-${type}` })),
    )
    const splash = await create('splash', { name: 's', title: 'Wait', counter: 1 })
    const [direct, waiting] = [await link({ pixels }), await link({ pixels, type: splash })]
    const before = await browser.arrive(direct, arrived, { ms: 1000 })
    expect([before.at, before.blocked, before.problems]).to.deep.equal([direct, [], []])
    for (const arrive of [() => arriveBy('#go'), () => browser.arrive(waiting, arrived)]) {
      // a page that waited for the networks would never arrive
      const { at, blocked, problems } = await arrive()
      expect([at, problems]).to.deep.equal([to, []])
      // 13 pixels, one of which has two addresses
      expect(blocked).to.have.length(14)
      for (const type of PixelType.options)
        expect(
          blocked.some((request) => request.includes(`T-${type}`)),
          type,
        ).to.equal(true)
    }
    expect(requests).to.include('document /there -')
  })

  it('continues without measurement, from a page that redirects and from a framed destination', async () => {
    await browser.block('silent', 'https://*')
    const pixels = [await create('pixel', { type: 'bing', name: 'p', tag: '123' })]
    await browser.visit(await link({ pixels }), `document.querySelector('#without').click()`)
    const { at, blocked } = await browser.arrive(undefined, arrived)
    expect([at, blocked]).to.deep.equal([to, []])
    const framed = await browser.visit<boolean>(
      await link({ pixels, type: 'frame' }),
      `(() => { const choice = document.querySelector('#choice'), shown = !choice.hidden
        document.querySelector('#without').click(); return shown && choice.hidden })()`,
    )
    expect([framed.value, framed.problems]).to.deep.equal([true, []])
  })

  it('is asked first and never redirected where the settings say so, and measured only after a yes', async () => {
    await browser.block('silent', 'https://*')
    const asking = await startTestApp({ PIXEL_CONSENT: 'ask', BASE_URL: app.app.baseUrl }, app.connection)
    try {
      const pixels = [await create('pixel', { type: 'bing', name: 'p', tag: '123' })]
      const type = await create('splash', { name: 's', title: 'Wait', counter: 0 })
      const ask = async (body: object) => (await link(body)).replace(app.address, asking.address)
      const splash = await browser.arrive(await ask({ pixels, type }), arrived, { ms: 1500 })
      expect([splash.at.startsWith(asking.address), splash.blocked]).to.deep.equal([true, []])
      await browser.visit(await ask({ pixels }), `document.querySelector('#go').click()`)
      expect((await browser.arrive(undefined, arrived)).blocked).to.deep.equal([])
      await browser.visit(await ask({ pixels }), '1')
      expect((await arriveBy('#agree')).blocked).to.have.length(1)
      const framed = await browser.visit<number>(
        await ask({ pixels, type: 'frame' }),
        `(() => { const before = performance.getEntriesByType('resource').length
          document.querySelector('#agree').click(); return document.querySelector('#choice').hidden ? before : -1 })()`,
      )
      expect(framed.problems).to.deep.equal([])
      expect(framed.value).to.be.at.least(0)
    } finally {
      await asking.close()
    }
  })

  it('leaves a splash page when its time is over and not before', async () => {
    const type = await create('splash', { name: 's', title: 'Wait', counter: 2 })
    const { at, ms, problems } = await browser.arrive(await link({ type }), arrived)
    expect([at, problems]).to.deep.equal([to, []])
    expect(ms).to.be.at.least(1900)
  })

  for (const scripts of [true, false]) {
    const how = scripts ? 'with script' : 'without script'

    it(`answers an overlay, reads the thanks and continues to the destination, ${how}`, async () => {
      const overlay = await create('overlay', { type: 'contact', name: 'c', message: 'Questions?' })
      const address = await link({ type: `overlay-${overlay}` })
      expect((await browser.arrive(address, (at) => at === address, { scripts })).problems).to.deep.equal([])
      await until(
        () => Promise.resolve(requests.length),
        (count) => count > 0,
      )
      expect(requests[0]).to.equal('iframe /there -')
      const fields = { name: 'Bea', email: 'bea@example.com', message: 'How much?' }
      await until(() => browser.read<boolean>(`!!document.querySelector('[method=post]')`), Boolean)
      await browser.read(`(() => { const form = document.querySelector('[method=post]')
        for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements[name].value = value
        form.querySelector('button').click() })()`)
      const thanked = await browser.arrive(undefined, (at) => at.endsWith(`/o/${overlay}`), { scripts })
      expect(thanked.problems).to.deep.equal([])
      // the visitor stays on the page
      await until(
        () => browser.read<string>(`document.activeElement.textContent`),
        (text) => /was sent/.test(text),
      )
      expect(await browser.read(`document.querySelector('iframe').src`)).to.equal(to)
      await browser.read(`document.querySelector('header .button').click()`)
      const onward = await browser.arrive(undefined, arrived, { scripts })
      expect([onward.at, onward.problems]).to.deep.equal([to, []])
      const { json } = await until(
        () => app.get(`/api/overlay/${overlay}/answers`, { key }),
        (answer) => answer.json['data'].result > 0,
      )
      expect(json['data'].answers[0].fields).to.deep.equal(fields)
    })
  }

  it('corrects a rejected answer at its first wrong field, and closes the overlay without script', async () => {
    const address = await link({ type: `overlay-${await create('overlay', { type: 'contact', name: 'Questions?' })}` })
    await browser.visit(address, '1')
    const { value, problems } = await browser.visit<{ closed: boolean; before: boolean }>(
      address,
      `(() => { const aside = document.querySelector('aside'), dialog = aside.querySelector('dialog')
        const before = !!(aside.compareDocumentPosition(document.querySelector('iframe')) & Node.DOCUMENT_POSITION_FOLLOWING)
        aside.querySelector('button').click()
        return { before, closed: !dialog.open && dialog.getBoundingClientRect().height === 0 } })()`,
    )
    expect([value, problems]).to.deep.equal([{ before: true, closed: true }, []])
    await browser.visit(address, '1')
    await browser.read(`(() => { const form = document.querySelector('[method=post]')
      form.noValidate = true; form.elements.email.value = 'bea@example'; form.querySelector('button').click() })()`)
    await until(
      () => browser.read<string>(`document.activeElement.id`),
      (id) => id === 'email',
    )
    expect(await browser.read(`document.activeElement.value`)).to.equal('bea@example')
    expect(
      await browser.read(
        `document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent`,
      ),
    ).to.match(/^Enter a complete/)
  })

  it('stays when a framed page navigates the window by itself, and follows the click of its visitor', async () => {
    const address = await link({ type: 'frame', url: to.replace('there', 'takeover') })
    const isTop = (at: string) => at.endsWith('/top')
    await browser.arrive(address, () => requests.some((request) => request.startsWith('image /tried')))
    expect((await browser.arrive(undefined, isTop, { ms: 300 })).at).to.equal(address)
    // a frame that is not painted yet gets no click
    const click = async () => {
      await browser.click(300, 300)
      return (await browser.arrive(undefined, isTop, { ms: 1000 })).at
    }
    expect(await until(click, isTop)).to.equal(to.replace('there', 'top'))
  })

  it('leaves a splash page whose images never load', async () => {
    await browser.block('silent', 'https://*')
    const picture = 'https://cdn.example.com/a.png'
    const type = await create('splash', { name: 's', title: 'Wait', banner: picture, logo: picture, counter: 1 })
    const { at, blocked } = await browser.arrive(await link({ type }), arrived)
    expect([at, blocked]).to.deep.equal([to, [picture]])
  })

  it('sees the framed destination, and a link to it in case it refuses to be framed', async () => {
    for (const url of [to, to.replace('there', 'refusing')]) {
      const seen = await browser.visit<{ href: string; shown: boolean; framed: number }>(
        await link({ type: 'frame', url }),
        `(() => { const open = document.querySelector('header .button'), box = open.getBoundingClientRect()
          return { href: open.href, shown: box.width > 40 && document.elementFromPoint(box.x + 5, box.y + 5) === open, framed: frames.length } })()`,
      )
      expect(seen.value).to.deep.equal({ href: url, shown: true, framed: 1 })
      expect(requests.at(-1)).to.equal(`iframe ${new URL(url).pathname} -`)
    }
  })

  it('gets from the password form to the page that the link shows', async () => {
    const pixels = [await create('pixel', { type: 'bing', name: 'p', tag: '123' })]
    const splash = await create('splash', { name: 's', title: 'Wait', counter: 1 })
    for (const [body, ends] of [
      [{ pixels, type: splash }, arrived],
      [{ type: 'frame' }, () => requests.some((request) => request.startsWith('iframe'))],
    ] as [object, (at: string) => boolean][]) {
      const address = await link({ ...body, password: 'sesame' })
      await browser.visit(address, '1')
      await browser.read(
        `(() => { document.querySelector('#password').value = 'sesame'; document.querySelector('button.go').click() })()`,
      )
      const { at, problems } = await browser.arrive(undefined, ends)
      expect(problems).to.deep.equal([])
      expect(ends(at), at).to.equal(true)
    }
  })
})
