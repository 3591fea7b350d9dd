import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { createSendPage } from '../../../../src/http/public/page/page.ts'
import { type Browser, needsBrowser, openBrowser } from '../../../support/browser.ts'
import { until } from '../../../support/client.ts'
import { every } from '../../../support/pages.ts'

/**
 * The lowest contrast of a text on the page with what is behind it, and where; elements that do not fit into the
 * window.
 */
const measure = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number)
  const luminance = (color) => channels(color).slice(0, 3).map((n) => n / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
  const contrast = (one, other) => { const [a, b] = [luminance(one), luminance(other)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05) }
  const behind = (e) => { const color = getComputedStyle(e).backgroundColor
    return channels(color)[3] === 0 && e.parentElement ? behind(e.parentElement) : color }
  const shown = [...document.body.querySelectorAll('*')].filter((e) => e.checkVisibility() && !e.closest('.said'))
  const texts = shown.filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
  const edges = shown.filter((e) => e.matches('input, .button'))
  return {
    text: Math.min(...texts.map((e) => contrast(getComputedStyle(e).color, behind(e)))),
    edge: Math.min(21, ...edges.map((e) => contrast(getComputedStyle(e).borderTopColor, behind(e.parentElement)))),
    small: shown.filter((e) => e.matches('a, button, input')).map((e) => e.getBoundingClientRect()).filter((box) => box.height < 44).length,
    wide: document.documentElement.scrollWidth > innerWidth,
    unnamed: shown.filter((e) => e.matches('a, button') && !e.textContent.trim() && !e.ariaLabel).length,
    headings: document.querySelectorAll('h1').length,
    landmarks: ['main', 'footer'].every((name) => document.querySelectorAll(name).length === 1),
    focus: (() => { const probe = document.createElement('a'); probe.href = '#'; document.body.append(probe); probe.focus({ focusVisible: true })
      const ring = contrast(getComputedStyle(probe).outlineColor, behind(probe)); probe.remove(); return ring })(),
  }
})()`
interface Measured {
  readonly text: number
  readonly edge: number
  readonly focus: number
}

describe('public pages in Chromium', () => {
  let browser: Browser
  let server: Server
  let at: string
  before(async function () {
    needsBrowser(this)
    const operator = {
      name: 'Example',
      email: 'help@example.com',
      imprint: 'https://example.com/i',
      privacy: undefined,
    }
    const sendPage = createSendPage(operator, () => ({ host: 'sho.rt' }))
    server = createServer((req, res) => {
      const page = every[(req.url ?? '').slice(1)]
      if (page) sendPage(req, res, page)
      else res.writeHead(404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    server?.close()
  })

  for (const [scheme, width, language] of [
    ['light', 390, 'en'],
    ['dark', 320, 'de'],
  ] as const)
    it(`can be read and used in ${scheme} colors, ${width} pixels wide, in ${language}`, async () => {
      await browser.show(width, scheme)
      await browser.prefer(language)
      for (const name of Object.keys(every)) {
        const { value, problems } = await browser.visit<Measured>(`${at}/${name}`, measure)
        expect(problems, name).to.deep.equal([])
        const { text, edge, focus, ...rest } = value
        expect(text, `${name}: text`).to.be.at.least(4.5)
        expect(edge, `${name}: borders`).to.be.at.least(3)
        expect(focus, `${name}: focus`).to.be.at.least(3)
        expect(rest, name).to.deep.equal({ small: 0, wide: false, unnamed: 0, headings: 1, landmarks: true })
      }
    })

  it('are used with the keyboard in the order of their content', async () => {
    await browser.prefer('en')
    // a page that is not seen does not redirect
    await browser.visit(`${at}/redirecting`, `Object.defineProperty(document, 'hidden', { value: true })`)
    const order: string[] = []
    for (let i = 0; i < 4; i++) {
      await browser.press('Tab')
      order.push(await browser.read<string>(`document.activeElement.textContent.trim()`))
    }
    expect(order).to.deep.equal([
      'Continue now',
      'Stay on this page',
      'Continue without measurement',
      'help@example.com',
    ])
    await browser.visit(`${at}/redirecting`, `document.querySelector('#stay').focus()`)
    await browser.press('Enter')
    expect(
      await browser.read(`[document.querySelector('#countdown').hidden, document.activeElement.id]`),
    ).to.deep.equal([true, 'go'])
  })

  it('show a password on request, with script only', async () => {
    await browser.visit(`${at}/wrong`, '1')
    const state = `(() => { const [field, button] = ['password', 'show'].map((id) => document.getElementById(id))
      return [field.type, button.ariaPressed, button.hidden, field.ariaInvalid, document.title] })()`
    expect(await browser.read(`(() => { document.querySelector('#show').click(); return ${state} })()`)).to.deep.equal([
      'text',
      'true',
      false,
      'true',
      'Error: This password is not correct',
    ])
    await browser.arrive(`${at}/password`, (url) => url.endsWith('/password'), { scripts: false })
    expect((await browser.read<unknown[]>(state)).slice(0, 3)).to.deep.equal(['password', 'false', true])
  })

  it('send a form that works once only once, for any number of clicks on its button', async () => {
    await browser.visit(`${at}/confirm`, '1')
    const clicks = `new Promise((done) => {
      let sent = 0
      addEventListener('submit', (event) => { event.preventDefault(); sent++ })
      const [button] = document.getElementsByTagName('button')
      document.querySelector('#password').value = 'correct horse 1'
      button.click()
      setTimeout(() => { button.click(); done([sent, button.disabled]) }, 20)
    })`
    expect(await browser.read(clicks)).to.deep.equal([1, true])
  })

  it('count down only while they are seen', async () => {
    await browser.visit(
      `${at}/redirecting`,
      `Object.defineProperty(document, 'hidden', { value: true, configurable: true })`,
    )
    const before = await browser.read<number>(`document.querySelector('#bar').value`)
    await browser.read(`new Promise((done) => setTimeout(done, 1500))`)
    expect(await browser.read(`document.querySelector('#bar').value`)).to.equal(before)
    await browser.read(`Object.defineProperty(document, 'hidden', { value: false })`)
    await until(
      () => browser.read<number>(`document.querySelector('#bar').value`),
      (value) => value < before,
    )
  })
})
