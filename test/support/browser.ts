import { existsSync } from 'node:fs'
import type { Context } from 'mocha'
import { chromium } from 'playwright-core'
import { skip } from './skip.ts'

/** Where Chromium is. */
export const program = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** Skips a test where no browser is installed. */
export const needsBrowser = (context: Context) => {
  if (!existsSync(program)) skip(context, `no Chromium at ${program}`, 'install chromium, or set CHROMIUM to its path')
}

const args = [
  // only local addresses can be reached
  '--disable-quic',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  // Playwright answers no requests of a frame in a process of its own
  '--disable-features=IsolateSandboxedIframes',
]

/** The result of a visit: the value of an expression on the loaded page, and what the browser reported. */
export interface Seen<T> {
  readonly value: T
  readonly dialogs: number
  /** violations of the Content-Security-Policy and the like */
  readonly problems: readonly string[]
}

/** Opens a real browser with one page. What Playwright has no call for, we ask over the DevTools protocol. */
export const openBrowser = async () => {
  const browser = await chromium.launch({ executablePath: program, args, chromiumSandbox: false })
  const page = await browser.newPage({ viewport: { width: 800, height: 600 } })
  const protocol = await page.context().newCDPSession(page)
  let dialogs = 0
  let problems: string[] = []
  let blocked: string[] = []
  let leave: (() => void) | undefined
  let answerEmpty = false
  const errors: string[] = []

  page.on('dialog', (dialog) => {
    dialogs++
    // it closes with its page, too
    dialog.dismiss().catch(() => {})
  })
  page.on('pageerror', (error) => errors.push(error.stack ?? error.message))
  page.on('console', (message) => {
    // the browser's own messages, such as those on failed requests, have no arguments
    if (message.type() === 'error' && message.args().length > 0) errors.push(message.text())
  })
  protocol.on('Log.entryAdded', ({ entry }) => {
    if (entry.source === 'security') problems.push(entry.text)
  })
  protocol.on('Fetch.requestPaused', ({ requestId, request }) => {
    blocked.push(request.url)
    // a page that is gone by now makes no request any more
    if (answerEmpty)
      protocol.send('Fetch.fulfillRequest', { requestId, responseCode: 204 }).then(
        () => leave?.(),
        () => {},
      )
  })
  await protocol.send('Log.enable')

  const evaluate = async <T>(expression: string) => {
    const { result } = await protocol.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    return result.value as T
  }
  // without promises and listeners, which do not run while scripts are off
  const isParsing = async () => {
    const expression = `document.readyState === 'loading'`
    return (await protocol.send('Runtime.evaluate', { expression, returnByValue: true })).result.value as boolean
  }

  return {
    /**
     * Loads a page and evaluates an expression on it, two animation frames later, when scripts of the page have run.
     */
    visit: async <T>(url: string, expression: string): Promise<Seen<T>> => {
      ;[problems, dialogs] = [[], 0]
      // until then the page before, or a frame of it, may still navigate
      await page.goto(url, { waitUntil: 'commit', timeout: 60_000 })
      // a page that navigates away before it is loaded, to an address that answers nothing, never is
      const left = new Promise<void>((resolve) => (leave = resolve))
      const loaded = page.waitForLoadState('load', { timeout: 60_000 })
      loaded.catch(() => {})
      await Promise.race([loaded, left])
      const value = await evaluate<T>(
        `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(${expression}))))`,
      )
      return { value, dialogs, problems }
    },
    /** Shows pages in a window of this width, in light or dark colors. */
    show: async (width: number, scheme: 'light' | 'dark') => {
      await page.setViewportSize({ width, height: 844 })
      await page.emulateMedia({ colorScheme: scheme })
    },
    /** Presses a key that moves the focus or activates what has it. */
    press: (key: 'Tab' | 'Enter') => page.keyboard.press(key),
    /** Gives the browser an authenticator that has a finger on it whenever it is asked. Returns what takes it off. */
    addAuthenticator: async () => {
      await protocol.send('WebAuthn.enable')
      const { authenticatorId } = await protocol.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      })
      return {
        touched: (enabled: boolean) =>
          protocol.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
        verified: (isUserVerified: boolean) =>
          protocol.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
        passkeys: async () => (await protocol.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
      }
    },
    /** Sends the languages that the visitor prefers (`Accept-Language`). */
    prefer: (languages: string) => page.setExtraHTTPHeaders({ 'Accept-Language': languages }),
    /** Returns what the window shows as a WebP image. */
    screenshot: async () => {
      const { data } = await protocol.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
      return Buffer.from(data, 'base64')
    },
    /** Sets the user agent; an empty string restores the browser's own. */
    setUserAgent: (userAgent: string) => protocol.send('Emulation.setUserAgentOverride', { userAgent }),
    /**
     * From now on requests for these addresses (`https://example.com/*`) get no response (`silent`) or an empty one
     * (`empty`), with which a page stays where it is. Without patterns, nothing is blocked any more.
     */
    block: async (how: 'silent' | 'empty' = 'silent', ...patterns: readonly string[]) => {
      answerEmpty = how === 'empty'
      await protocol.send('Fetch.disable')
      if (patterns.length === 0) return
      await protocol.send('Fetch.enable', { patterns: patterns.map((urlPattern) => ({ urlPattern })) })
    },
    /** Answers requests for these addresses with a script, and returns the addresses that are asked for. */
    serve: async (pattern: string, script: string): Promise<readonly string[]> => {
      const asked: string[] = []
      await page.context().route(pattern, async (route) => {
        asked.push(route.request().url())
        await route.fulfill({ contentType: 'text/javascript', body: script })
      })
      return asked
    },
    /**
     * Navigates to a URL (or stays) and waits until the page has a wanted one, at most `ms`. Returns the last URL, the
     * ms that it took, and the blocked requests.
     */
    arrive: async (
      url: string | undefined,
      isWanted: (at: string) => boolean,
      { scripts = true, ms = 15_000 } = {},
    ) => {
      ;[problems, dialogs, blocked] = [[], 0, []]
      await protocol.send('Emulation.setScriptExecutionDisabled', { value: !scripts })
      const began = performance.now()
      if (url !== undefined) await protocol.send('Page.navigate', { url })
      for (;;) {
        const { targetInfo } = await protocol.send('Target.getTargetInfo')
        const at = targetInfo.url
        const took = performance.now() - began
        if (isWanted(at) || took > ms) {
          // scripts that are allowed before the page is parsed would still run
          while (!scripts && (await isParsing())) await new Promise((done) => setTimeout(done, 20))
          await protocol.send('Emulation.setScriptExecutionDisabled', { value: false })
          return { at, ms: took, blocked, problems }
        }
        await new Promise((done) => setTimeout(done, 20))
      }
    },
    /** Uncaught exceptions, and errors that were written to the console, of all pages so far. */
    errors: errors as readonly string[],
    /** Violations of the Content-Security-Policy on the current page so far. */
    problems: () => problems as readonly string[],
    /** Returns the value of an expression on the current page. */
    read: evaluate,
    /** Clicks at a place of the window as a visitor does, in CSS pixels. */
    click: (x: number, y: number) => page.mouse.click(x, y),
    /** Drags from one place of the window to another, in some steps. */
    drag: async (from: { readonly x: number; readonly y: number }, to: { readonly x: number; readonly y: number }) => {
      await page.mouse.move(from.x, from.y)
      await page.mouse.down()
      await page.mouse.move(to.x, to.y, { steps: 4 })
      await page.mouse.up()
    },
    close: () => browser.close(),
  }
}
export type Browser = Awaited<ReturnType<typeof openBrowser>>
