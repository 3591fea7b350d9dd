import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PixelType } from '../../../src/events/pixel.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Browser, needsBrowser, openBrowser } from '../../support/browser.ts'
import { until } from '../../support/client.ts'

describe('a visitor with a real browser', function () {
  this.timeout(60_000)
  let app: TestApp
  let key: string
  let browser: Browser
  /** where the links lead: says what was asked of it, and for what */
  let there: Server
  let to: string
  let asked: string[] = []
  before(async function () {
    needsBrowser(this)
    app = await startTestApp()
    ;({ key } = await app.register())
    browser = await openBrowser()
    there = createServer((req, res) => {
      if (req.url !== '/favicon.ico')
        asked.push(`${req.headers['sec-fetch-dest'] as string} ${req.url} ${req.headers.referer ?? '-'}`)
      const refusing = req.url?.startsWith('/refusing') ? { 'X-Frame-Options': 'DENY' } : {}
      res.writeHead(200, { 'Content-Type': 'text/html', ...refusing }).end('<!doctype html><title>there</title>')
    })
    await new Promise<void>((resolve) => there.listen(0, '127.0.0.1', resolve))
    to = `http://127.0.0.1:${(there.address() as AddressInfo).port}/there`
  })
  after(async () => {
    await browser?.close()
    there?.close()
    await app?.close()
  })
  beforeEach(() => {
    asked = []
  })
  afterEach(() => browser.deaf())

  const api = async (path: string, body: object) => {
    const { status, json, text } = await app.post(path, { key, body })
    expect(status, text).to.equal(200)
    return json
  }
  const made = async (kind: string, body: object) => Number((await api(`/api/${kind}/add`, body))['id'])
  const link = async (body: object) => {
    const { short } = await api('/api/url/add', { url: to, ...body })
    return app.address + new URL(String(short)).pathname
  }
  const arrived = (at: string) => at.startsWith(to)

  for (const scripts of [true, false]) {
    const how = scripts ? 'with script' : 'without script'

    it(`is past the pixels soon, ${how}, even when no network answers`, async () => {
      await browser.deaf('silent', 'https://*')
      const pixels = await Promise.all(
        PixelType.options.map((type) => made('pixel', { type, name: type, tag: `T-${type}` })),
      )
      const { at, ms, held, problems } = await browser.arrive(await link({ pixels }), arrived, { scripts })
      expect([at, problems]).to.deep.equal([to, []])
      expect(ms).to.be.below(5000)
      // 13 pixels, one of which has two addresses
      expect(held).to.have.length(scripts ? 14 : 0)
      for (const type of scripts ? PixelType.options : [])
        expect(
          held.some((url) => url.includes(`T-${type}`)),
          type,
        ).to.equal(true)
      expect(asked).to.include('document /there -')
    })

    it(`is sent on from a splash page when its time has come, ${how}, and not before`, async () => {
      const type = await made('splash', { name: 's', title: 'Wait', counter: 2 })
      const { at, ms, problems } = await browser.arrive(await link({ type }), arrived, { scripts })
      expect([at, problems]).to.deep.equal([to, []])
      expect(ms).to.be.within(1900, 8000)
    })

    it(`answers an overlay, is thanked, and is led on, ${how}`, async () => {
      const overlay = await made('overlay', { type: 'contact', name: 'c', message: 'Questions?' })
      const address = await link({ type: `overlay-${overlay}` })
      expect((await browser.arrive(address, (at) => at === address, { scripts })).problems).to.deep.equal([])
      await until(
        () => Promise.resolve(asked.length),
        (count) => count > 0,
      )
      expect(asked[0]).to.equal('iframe /there -')
      const fields = { name: 'Bea', email: 'bea@example.com', message: 'How much?' }
      await until(() => browser.read<boolean>(`!!document.querySelector('form')`), Boolean)
      await browser.read(`(() => { const form = document.querySelector('form')
        for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements[name].value = value
        form.querySelector('button').click() })()`)
      const thanked = await browser.arrive(undefined, (at) => at.endsWith(`/o/${overlay}`), { scripts })
      expect(thanked.problems).to.deep.equal([])
      const onward = await browser.arrive(undefined, arrived, { scripts })
      expect([onward.at, onward.problems]).to.deep.equal([to, []])
      const { json } = await until(
        () => app.get(`/api/overlay/${overlay}/answers`, { key }),
        (answer) => answer.json['data'].result > 0,
      )
      expect(json['data'].answers[0].fields).to.deep.equal(fields)
    })
  }

  it('goes on from a splash page whose pictures never come', async () => {
    await browser.deaf('silent', 'https://*')
    const picture = 'https://cdn.example.com/a.png'
    const type = await made('splash', { name: 's', title: 'Wait', banner: picture, logo: picture, counter: 1 })
    const { at, held } = await browser.arrive(await link({ type }), arrived)
    expect([at, held]).to.deep.equal([to, [picture]])
  })

  it('sees the destination in a frame, and a way there when it does not let itself be framed', async () => {
    for (const url of [to, to.replace('there', 'refusing')]) {
      const seen = await browser.visit<{ href: string; shown: boolean; framed: number }>(
        await link({ type: 'frame', url }),
        `(() => { const open = document.querySelector('header a'), box = open.getBoundingClientRect()
          return { href: open.href, shown: box.width > 40 && document.elementFromPoint(box.x + 5, box.y + 5) === open, framed: frames.length } })()`,
      )
      expect(seen.value).to.deep.equal({ href: url, shown: true, framed: 1 })
      expect(asked.at(-1)).to.equal(`iframe ${new URL(url).pathname} -`)
    }
  })

  it('gets on from the form of a password to whatever the link shows', async () => {
    const pixels = [await made('pixel', { type: 'bing', name: 'p', tag: '123' })]
    for (const [body, ends] of [
      [{ pixels }, arrived],
      [{ type: 'frame' }, () => asked.some((request) => request.startsWith('iframe'))],
    ] as [object, (at: string) => boolean][]) {
      const address = await link({ ...body, password: 'sesame' })
      await browser.visit(address, '1')
      await browser.read(
        `(() => { document.querySelector('#password').value = 'sesame'; document.querySelector('button').click() })()`,
      )
      const { at, problems } = await browser.arrive(undefined, ends)
      expect(problems).to.deep.equal([])
      expect(ends(at), at).to.equal(true)
    }
  })
})
