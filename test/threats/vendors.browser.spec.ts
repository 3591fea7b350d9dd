import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Browser, needsBrowser, openBrowser } from '../support/browser.ts'
import { until } from '../support/client.ts'
import { message } from '../support/interstitials.ts'

/** Says which origin it has, and what a window of the service answers it, by the addresses of images. */
const script = `const from = new URL(document.currentScript.src).origin
const tell = (what) => { new Image().src = from + '/told?' + encodeURIComponent(what) }
tell('origin ' + self.origin);
(async () => {
  try {
    document.cookie
    const other = open('/favicon.ico')
    while (other.location.href === 'about:blank' || other.document.readyState !== 'complete') await new Promise((done) => setTimeout(done, 20))
    tell('session ' + (await other.fetch('/api/account')).status)
  } catch ({ name }) { tell('refused ' + name) }
})()`

/** Tells its server which origin it has. */
const destinationPage = `<!doctype html><title>there</title><script>new Image().src = '/as?' + self.origin</script>`

describe('a script of a measuring network, in the browser of an owner who is signed in', () => {
  let app: TestApp
  let key: string
  let browser: Browser
  let destination: Server
  let to: string
  let requests: string[] = []
  let asked: readonly string[]
  before(async function () {
    needsBrowser(this)
    app = await startTestApp({ PIXEL_CONSENT: 'ask' })
    destination = createServer((req, res) => {
      requests.push(req.url ?? '')
      res.writeHead(200, { 'Content-Type': 'text/html' }).end(destinationPage)
    })
    await new Promise<void>((resolve) => destination.listen(0, '127.0.0.1', resolve))
    to = `http://127.0.0.1:${(destination.address() as AddressInfo).port}/there`
    browser = await openBrowser()
    asked = await browser.serve('https://*/**', script)
    key = (await app.register()).key
    const { email } = await app.register()
    await browser.visit(`${app.address}/docs`, '1')
    const body = JSON.stringify({ email, password: 'correct horse 1' })
    const headers = { 'Content-Type': 'application/json' }
    const signedIn = `fetch('/api/session', ${JSON.stringify({ method: 'POST', headers, body })})`
    expect(await browser.read(`${signedIn}.then(({ status }) => status)`)).to.equal(200)
    expect(await browser.read(`fetch('/api/account').then(({ status }) => status)`)).to.equal(200)
  })
  after(async () => {
    await browser?.close()
    destination?.close()
    await app?.close()
  })

  const api = async (path: string, body: object) => {
    const { status, json, text } = await app.post(path, { key, body })
    expect(status, text).to.equal(200)
    return json
  }
  const create = async (kind: string, body: object) => Number((await api(`/api/${kind}/add`, body))['id'])

  /** Opens a link and agrees to be measured, as a visitor does. Returns what the script told. */
  const agree = async (body: object) => {
    requests = []
    const before = asked.length
    const { short } = await api('/api/url/add', { url: to, ...body })
    await browser.visit(app.address + new URL(String(short)).pathname, '1')
    const box = await browser.read<{ x: number; y: number }>(
      `(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 }))(document.querySelector('#agree').getBoundingClientRect())`,
    )
    await browser.click(box.x, box.y)
    const told = () => asked.slice(before).flatMap((url) => /told\?(.*)/.exec(url)?.[1] ?? [])
    await until(
      () => Promise.resolve(told()),
      (all) => all.length >= 2,
    )
    await until(
      () => Promise.resolve(requests),
      (all) => all.some((url) => url.startsWith('/as')),
    )
    return told().map(decodeURIComponent)
  }

  for (const type of ['gtmpixel', 'gapixel', 'tiktok'])
    it(`has no origin and no session on any page, and the page leads on: ${type}`, async () => {
      const pixels = [await create('pixel', { type, name: 'p', tag: 'GTM-1' })]
      const splash = await create('splash', { name: 's', title: 'Wait', counter: 1 })
      const overlay = await create('overlay', message)
      for (const shown of ['direct', splash, 'frame', `overlay-${overlay}`]) {
        const told = await agree({ pixels, type: shown })
        expect(told, String(shown)).to.deep.equal(['origin null', 'refused SecurityError'])
        // the destination has the origin that is its own, in a frame, too
        expect(requests.at(-1), String(shown)).to.equal(`/as?${new URL(to).origin}`)
      }
    })
})
