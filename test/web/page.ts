import { after, before } from 'mocha'

/** The address of the page, which modules of the dashboard read when they are loaded. */
const page = new URL('https://links.example/dashboard')
const goTo = (_state: unknown, _title: string, to: string) => {
  page.href = new URL(to, page).href
}

/** A request that a module of the dashboard has made. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly body: unknown
}
export interface Answered {
  readonly status?: number
  readonly body: object
}

/** A browser's page as far as modules without a screen need it: its address, and a service that answers. */
export interface FakePage {
  /** what was asked since the last `answer` */
  readonly asked: readonly Asked[]
  /** Answers every request from now on. */
  readonly answer: (answer: (asked: Asked) => Answered) => void
}

/**
 * Installs a page in English while the specs of a file run. Modules that read the address are imported in `load`, when
 * the page is there. So are all that share something with them: what a spec imports at its beginning is a second copy
 * for tsx.
 */
export const usePage = (load: () => Promise<void>): FakePage => {
  const asked: Asked[] = []
  let answer: (asked: Asked) => Answered = () => ({ status: 500, body: {} })
  const fetchFake = (path: string, { method, body }: { method: string; body?: string }) => {
    const request = { method, path, body: body === undefined ? undefined : (JSON.parse(body) as unknown) }
    asked.push(request)
    const { status = 200, body: sent } = answer(request)
    return Promise.resolve(new Response(JSON.stringify(sent), { status }))
  }
  const fakes: Readonly<Record<string, unknown>> = {
    location: page,
    history: { pushState: goTo, replaceState: goTo },
    document: { documentElement: { dataset: { base: page.origin } } },
    scrollTo: () => {},
    requestAnimationFrame: () => 0,
    fetch: fetchFake,
  }
  const names = Object.keys(fakes)
  const originals = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const)
  before(async () => {
    page.href = 'https://links.example/dashboard'
    for (const name of names)
      Object.defineProperty(globalThis, name, { value: fakes[name], configurable: true, writable: true })
    const { loadTexts, useLanguage } = await import('../../src/web/core/texts.ts')
    await useLanguage('en')
    await loadTexts()
    await load()
  })
  after(() => {
    for (const [name, original] of originals)
      if (original) Object.defineProperty(globalThis, name, original)
      else Reflect.deleteProperty(globalThis, name)
  })
  return {
    asked,
    answer: (given) => {
      asked.length = 0
      answer = given
    },
  }
}
