import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Context } from 'mocha'
import { skip } from './skip.ts'

const program = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** Skips a test where no browser is installed. */
export const needsBrowser = (context: Context) => {
  if (!existsSync(program)) skip(context, `no Chromium at ${program}`, 'install chromium, or set CHROMIUM to its path')
}

// only local addresses can be reached
const flags = [
  ...'--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking'.split(' '),
  ...'--disable-component-update --disable-sync --remote-debugging-pipe'.split(' '),
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

/** Replaces the id of a load when a page has navigated to a blocked address: that load never finishes. */
const navigatedAway = 'navigated away'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: {
    readonly entry?: { readonly source: string; readonly text: string }
    readonly name?: string
    readonly type?: string
    readonly args?: readonly { readonly value?: unknown; readonly description?: string }[]
    readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } }
    readonly loaderId?: string
    readonly requestId?: string
    readonly request?: { readonly url: string }
  }
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** The result of a visit: the value of an expression on the loaded page, and what the browser reported. */
export interface Seen<T> {
  readonly value: T
  readonly dialogs: number
  /** violations of the Content-Security-Policy and the like */
  readonly problems: readonly string[]
}

/** Opens a real browser, over the DevTools protocol: JSON messages that end with NUL, on file descriptors 3 and 4. */
export const openBrowser = async () => {
  const dir = await mkdtemp(join(tmpdir(), 'linkledger-browser-'))
  const child: ChildProcess = spawn(program, [...flags, `--user-data-dir=${dir}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const [to, from] = [child.stdio[3] as Writable, child.stdio[4] as Readable]
  const waiting = new Map<number, (message: Message) => void>()
  let [last, loaded, dialogs] = [0, (_: string | undefined) => {}, 0]
  let problems: string[] = []
  let blocked: string[] = []
  let answerEmpty = false
  const errors: string[] = []

  const send = <T>(method: string, params: object = {}, sessionId?: string) =>
    new Promise<T>((resolve, reject) => {
      const id = ++last
      waiting.set(id, ({ result, error }) =>
        error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result as T),
      )
      to.write(`${JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) })}\0`)
    })
  const handleMessage = (message: Message) => {
    const { id, method, params } = message
    if (id !== undefined) {
      waiting.get(id)?.(message)
      waiting.delete(id)
    }
    if (method === 'Page.lifecycleEvent' && params?.name === 'load') loaded(params.loaderId)
    if (method === 'Log.entryAdded' && params?.entry?.source === 'security') problems.push(params.entry.text)
    if (method === 'Runtime.exceptionThrown')
      errors.push(params?.exceptionDetails?.exception?.description ?? params?.exceptionDetails?.text ?? '')
    if (method === 'Runtime.consoleAPICalled' && params?.type === 'error')
      errors.push((params.args ?? []).map(({ value, description }) => description ?? JSON.stringify(value)).join(' '))
    if (method === 'Fetch.requestPaused') {
      blocked.push(params?.request?.url ?? '')
      const { requestId } = params ?? {}
      // a page that navigates away before it is loaded reports no load event
      if (answerEmpty)
        void send('Fetch.fulfillRequest', { requestId, responseCode: 204 }, session).then(() => loaded(navigatedAway))
    }
    if (method === 'Page.javascriptDialogOpening') {
      dialogs++
      void send('Page.handleJavaScriptDialog', { accept: false }, session)
    }
  }
  let rest = ''
  from.setEncoding('utf8').on('data', (text: string) => {
    const messages = (rest + text).split('\0')
    rest = messages.pop() ?? ''
    for (const message of messages) handleMessage(JSON.parse(message) as Message)
  })

  const { targetId } = await send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' })
  const attached = await send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
  const session = attached.sessionId
  for (const domain of ['Page', 'Log', 'Network', 'Runtime']) await send(`${domain}.enable`, {}, session)
  await send('Page.setLifecycleEventsEnabled', { enabled: true }, session)

  // without promises and listeners, which do not run while scripts are off
  const isParsing = async () => {
    const evaluate = { expression: `document.readyState === 'loading'`, returnByValue: true }
    return (await send<{ result: { value: boolean } }>('Runtime.evaluate', evaluate, session)).result.value
  }

  return {
    /** Loads a page and evaluates an expression on it, two animation frames later, when scripts of the page have run. */
    visit: async <T>(url: string, expression: string): Promise<Seen<T>> => {
      ;[problems, dialogs] = [[], 0]
      const loads = new Set<string | undefined>()
      loaded = (id) => void loads.add(id)
      const navigated = await send<{ loaderId: string; errorText?: string }>('Page.navigate', { url }, session)
      const { loaderId, errorText } = navigated
      if (errorText) throw new Error(`${url}: ${errorText}`)
      // the previous page may still navigate: that load is not the one to wait for
      while (!loads.has(loaderId) && !loads.has(navigatedAway))
        await new Promise<void>((resolve) => (loaded = (id) => resolve(void loads.add(id))))
      const settled = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(${expression}))))`
      const evaluate = { expression: settled, awaitPromise: true, returnByValue: true }
      const { result } = await send<{ result: { value: T } }>('Runtime.evaluate', evaluate, session)
      return { value: result.value, dialogs, problems }
    },
    /** Shows pages in a window of this width, in light or dark colors. */
    show: async (width: number, scheme: 'light' | 'dark') => {
      const metrics = { width, height: 844, deviceScaleFactor: 1, mobile: false }
      await send('Emulation.setDeviceMetricsOverride', metrics, session)
      await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] }, session)
    },
    /** Presses a key that moves the focus or activates what has it. */
    press: async (key: 'Tab' | 'Enter') => {
      const code = { Tab: 9, Enter: 13 }[key]
      const event = { key, code: key, windowsVirtualKeyCode: code, ...(key === 'Enter' && { text: '\r' }) }
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...event }, session)
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event }, session)
    },
    /** Sends the languages that the visitor prefers (`Accept-Language`). */
    prefer: (languages: string) =>
      send('Network.setExtraHTTPHeaders', { headers: { 'Accept-Language': languages } }, session),
    /** Returns the page as an image: all of it as PNG, or what the window shows in a format of its own. */
    screenshot: async (options: object = { captureBeyondViewport: true }) => {
      return Buffer.from((await send<{ data: string }>('Page.captureScreenshot', options, session)).data, 'base64')
    },
    /** Sets the user agent; an empty string restores the browser's own. */
    setUserAgent: (userAgent: string) => send('Emulation.setUserAgentOverride', { userAgent }, session),
    /**
     * From now on requests for these addresses (`https://example.com/*`) get no response (`silent`) or an empty one (`empty`), with which a page
     * stays where it is. Without patterns, nothing is blocked any more.
     */
    block: async (how: 'silent' | 'empty' = 'silent', ...patterns: readonly string[]) => {
      answerEmpty = how === 'empty'
      await send('Fetch.disable', {}, session)
      if (patterns.length === 0) return
      await send('Fetch.enable', { patterns: patterns.map((urlPattern) => ({ urlPattern })) }, session)
    },
    /** Navigates to a URL (or stays) and waits until the page has a wanted one, at most `ms`. Returns the last URL, the ms that it took, and the blocked requests. */
    arrive: async (
      url: string | undefined,
      isWanted: (at: string) => boolean,
      { scripts = true, ms = 15_000 } = {},
    ) => {
      ;[problems, dialogs, blocked] = [[], 0, []]
      await send('Emulation.setScriptExecutionDisabled', { value: !scripts }, session)
      const began = performance.now()
      if (url !== undefined) await send('Page.navigate', { url }, session)
      for (;;) {
        const { targetInfo } = await send<{ targetInfo: { url: string } }>('Target.getTargetInfo', { targetId })
        const at = targetInfo.url
        const took = performance.now() - began
        if (isWanted(at) || took > ms) {
          // scripts that are allowed before the page is parsed would still run
          while (!scripts && (await isParsing())) await new Promise((done) => setTimeout(done, 20))
          await send('Emulation.setScriptExecutionDisabled', { value: false }, session)
          return { at, ms: took, blocked, problems }
        }
        await new Promise((done) => setTimeout(done, 20))
      }
    },
    /** Exceptions that nobody caught, and errors that were written to the console, of all pages so far. */
    errors: errors as readonly string[],
    /** Violations of the Content-Security-Policy on the current page so far. */
    problems: () => problems as readonly string[],
    /** Returns the value of an expression on the current page. */
    read: async <T>(expression: string) => {
      const evaluate = { expression, awaitPromise: true, returnByValue: true }
      const { result } = await send<{ result: { value: T } }>('Runtime.evaluate', evaluate, session)
      return result.value
    },
    /** Clicks at a place of the window as a visitor does, in CSS pixels. */
    click: async (x: number, y: number) => {
      for (const type of ['mousePressed', 'mouseReleased'])
        await send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 }, session)
    },
    /** Drags from one place of the window to another, in some steps. */
    drag: async (from: { readonly x: number; readonly y: number }, to: { readonly x: number; readonly y: number }) => {
      const at = (type: string, part: number) => {
        const [x, y] = [from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part]
        return send('Input.dispatchMouseEvent', { type, x, y, button: 'left', buttons: 1, clickCount: 1 }, session)
      }
      await at('mousePressed', 0)
      for (const step of [0.25, 0.5, 0.75, 1]) await at('mouseMoved', step)
      await at('mouseReleased', 1)
    },
    close: async () => {
      child.kill()
      await exited
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
export type Browser = Awaited<ReturnType<typeof openBrowser>>
