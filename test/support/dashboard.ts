import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Overrides } from '../../src/app/overrides.ts'
import { bundleWeb } from '../../bin/web.js'
import { startTestApp } from './app.ts'
import { type Browser, openBrowser } from './browser.ts'
import { until } from './client.ts'
import { long, note } from './faults.ts'

const text = (value: unknown) => JSON.stringify(value)

/** Starts a service with the dashboard, made of the sources, and a browser that uses it. */
export const openDashboard = async (settings: Readonly<Record<string, string>> = {}, overrides: Overrides = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'linkledger-web-'))
  await bundleWeb(new URL('../..', import.meta.url).pathname, folder)
  const app = await startTestApp({ SESSION_RATE_LIMIT_PER_MINUTE: '0', ...settings }, undefined, {
    ...overrides,
    web: folder,
  })
  const browser = await openBrowser()
  const others: Browser[] = []
  return {
    app,
    ...usedBy(app, browser),
    /** Opens the browser of another person. */
    another: async () => {
      const other = await openBrowser()
      others.push(other)
      return usedBy(app, other)
    },
    close: async () => {
      for (const one of [browser, ...others]) await one.close()
      await app.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
export type Dashboard = Awaited<ReturnType<typeof openDashboard>>

/** The windows in which screens are looked at: in `.ci/long` all of them. */
const windows = (
  [
    [320, 'light'],
    [390, 'dark'],
    [900, 'light'],
    [1280, 'light'],
    [1440, 'dark'],
  ] as const
).filter(([width]) => long || [320, 1440].includes(width))

/** Returns the actions of a user in a browser. */
const usedBy = (app: Awaited<ReturnType<typeof startTestApp>>, browser: Browser) => {
  const see = async (expression: string) => {
    // while a page gives way to the next one, nothing can be read
    await until(() => browser.read<unknown>(expression).catch(() => undefined), Boolean).catch(async () =>
      expect.fail(`${expression} on: ${await browser.read<string>('document.body.innerText')}`),
    )
  }
  const faultsInWindows = async () => {
    const found: string[] = []
    for (const [width, scheme] of windows) {
      await browser.show(width, scheme)
      for (const fault of await faultsOn(browser)) found.push(`at ${width} in ${scheme}: ${fault}`)
    }
    const ran = await browser.read<boolean>(`'canary' in window`)
    return [...found, ...browser.problems(), ...browser.errors, ...(ran ? ['ran a text as a script'] : [])]
  }
  return {
    browser,
    see,
    /** Waits until a text is on the page. */
    seeText: (wanted: string) => see(`document.body.innerText.includes(${text(wanted)})`),
    /** Opens a screen and waits until nothing on it is being loaded. */
    open: async (path: string) => {
      await browser.visit(`${app.address}/dashboard${path}`, 'document.title')
      await see(`document.querySelector('h1') && !document.querySelector('[aria-busy=true]')`)
    },
    /** Writes into a field, as a user who types. */
    write: (selector: string, value: string) =>
      browser.read(`((field) => {
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, ${text(value)})
        field.dispatchEvent(new Event('input', { bubbles: true }))
        field.dispatchEvent(new Event('change', { bubbles: true }))
      })(document.querySelector(${text(selector)}))`),
    /** Presses the first button or link whose name begins so. */
    press: async (name: string) => {
      const found = `[...(document.querySelector('dialog[open]') ?? document).querySelectorAll('button, a, summary')].find((one) => one.checkVisibility() && (one.ariaLabel ?? one.innerText).trim().startsWith(${text(name)}))`
      await see(found)
      await browser.read(`${found}.click()`)
    },
    /** Returns what is wrong with the screen in the window as it is. */
    faults: () => faultsOn(browser),
    /** Returns what is wrong with the screen in narrow and wide windows, in light and dark. */
    faultsInWindows,
    /** Fails unless the screen is right in these windows; the last one is wide. */
    looksRight: async () =>
      expect(await faultsInWindows(), await browser.read<string>('location.href')).to.deep.equal([]),
  }
}

/**
 * axe-core is no dependency: its licence is MPL-2.0. `.ci/run` installs it: `npm install --prefix .cache/axe --no-save
 * axe-core`.
 */
const axeFile = new URL('../../.cache/axe/node_modules/axe-core/axe.min.js', import.meta.url)
const axe = existsSync(axeFile) ? readFileSync(axeFile, 'utf8') : undefined
if (!axe) note('screens are checked by our own rules only: axe-core is not in .cache/axe')

/** Returns what is wrong with what is on the screen, by our own rules and those of axe-core. */
const faultsOn = async (browser: Browser): Promise<readonly string[]> => {
  const own = await browser.read<readonly string[]>(faultsOnScreen)
  if (!axe) return own
  if (!(await browser.read<boolean>(`'axe' in window`))) await browser.read(`${axe}; undefined`)
  // what is behind a modal window is inert, which axe-core cannot tell where the window covers all of it
  const violations = await browser.read<readonly string[]>(
    `axe.run(document.querySelector('dialog[open]') ?? document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((one) => 'axe ' + id + ': ' + one.html.slice(0, 160) + ' ' + one.failureSummary.replace(/\\s+/g, ' ').slice(0, 300))))`,
  )
  return [...own, ...violations]
}

/** What is wrong with what is on the screen, by our own rules: names, contrast, sizes, times, and what does not fit. */
const faultsOnScreen = `(async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const channels = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data] }
  const luminance = (color) => channels(color).slice(0, 3).map((n) => n / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
  const contrast = (one, other) => { const [a, b] = [luminance(one), luminance(other)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05) }
  const behind = (e) => { const color = getComputedStyle(e).backgroundColor
    return channels(color)[3] === 0 && e.parentElement ? behind(e.parentElement) : color }
  const modal = document.querySelector('dialog[open]') ?? document.body
  const isSeen = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest('.visually-hidden, .skip, svg, .plot')
  const shown = [...modal.querySelectorAll('*')].filter(isSeen)
  const name = (e) => (e.ariaLabel || e.getAttribute('aria-labelledby') || e.labels?.[0]?.innerText || e.labels?.[0]?.textContent || e.innerText || e.title || '').trim()
  const what = (e) => e.outerHTML.slice(0, 120)
  const ownText = (e) => [...e.childNodes].filter((n) => n.nodeType === 3 && n.textContent.trim())
  // words on two lines that have no hyphen between them
  const broken = (node) => [...node.textContent.matchAll(/[\\p{L}\\d]{2,}/gu)].filter(({ 0: word, index }) => {
    const range = document.createRange()
    range.setStart(node, index)
    range.setEnd(node, index + word.length)
    return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1
  }).map(({ 0: word }) => word + ' in ' + what(node.parentElement))
  const texts = shown.filter((e) => ownText(e).length > 0 && !e.matches(':disabled, option, optgroup, kbd'))
  const controls = shown.filter((e) => e.matches('a[href], button, input, select, textarea, summary'))
  const inText = (e) => getComputedStyle(e).display === 'inline'
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id)
  return [
    ...texts.filter((e) => contrast(getComputedStyle(e).color, behind(e)) < 4.5).map((e) => 'contrast ' + what(e)),
    ...controls.filter((e) => !name(e)).map((e) => 'name ' + what(e)),
    ...controls.filter((e) => !inText(e) && !e.matches('[type=checkbox], [type=file]')).filter((e) => { const box = e.getBoundingClientRect(); return box.width > 0 && (box.height < 24 || box.width < 24) }).map((e) => 'target ' + what(e)),
    ...[...document.images].filter((e) => e.getAttribute('alt') === null).map((e) => 'alt ' + what(e)),
    ...shown.filter((e) => e.matches('time') && !/ UTC$/.test(e.title)).map((e) => 'no UTC ' + what(e)),
    ...texts.filter((e) => !e.closest('code, pre, bdi, [dir=auto]') && ownText(e).some((n) => /\\d{4}-\\d\\d-\\d\\d/.test(n.textContent))).map((e) => 'time of the API ' + what(e)),
    ...texts.filter((e) => e.closest('table') && !e.closest('code, pre, bdi, [dir=auto], .mono') && !e.textContent.includes('://')).flatMap((e) => ownText(e).flatMap(broken)).map((word) => 'broken ' + word),
    ...(document.documentElement.scrollWidth > innerWidth ? ['wide ' + document.documentElement.scrollWidth + ' ' + shown.filter((e) => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map(what)] : []),
    ...(document.querySelectorAll('h1').length === 1 ? [] : ['headings ' + document.querySelectorAll('h1').length]),
    ...(document.querySelectorAll('main').length === 1 ? [] : ['main']),
    ...ids.filter((id, n) => ids.indexOf(id) !== n).map((id) => 'id ' + id),
    ...[...document.querySelectorAll('[aria-describedby]')].filter((e) => !document.getElementById(e.getAttribute('aria-describedby'))).map((e) => 'described ' + what(e)),
  ]
})()`
