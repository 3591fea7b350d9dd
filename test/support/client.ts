import { inspect } from 'node:util'
import { checkAnswer } from './document.ts'
import { exchange } from './exchange.ts'

/** A response that is read to its end. `json` is empty when the body is not JSON. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly json: Record<string, any>
}
export interface Ask {
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The user agent of a person, whose visits are counted. */
export const browser =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'

/**
 * Sends requests to a service as API clients and visitors do. Each answer of the API must be as `/openapi.json` says.
 */
export const client = (address: string, check = checkAnswer) => {
  const ask = async (method: string, path: string, { key, body, headers = {} }: Ask = {}): Promise<Answer> => {
    const answer = await exchange(address + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    })
    const isJson = answer.text !== '' && answer.headers.get('Content-Type')?.match(/[/+]json/)
    const json = isJson ? (JSON.parse(answer.text) as Answer['json']) : {}
    check(method, path, answer.status, json, answer.headers.get('Content-Type')?.split(';')[0])
    return { ...answer, json }
  }
  return {
    address,
    ask,
    get: (path: string, options?: Ask) => ask('GET', path, options),
    post: (path: string, options?: Ask) => ask('POST', path, options),
    put: (path: string, options?: Ask) => ask('PUT', path, options),
    del: (path: string, options?: Ask) => ask('DELETE', path, options),
    /** Visits a path as a person with a browser. */
    visit: (path: string, headers: Readonly<Record<string, string>> = {}) =>
      ask('GET', path, { headers: { 'User-Agent': browser, ...headers } }),
    /** Registers an account and returns its API key and id. */
    register: async (name = `ann-${Math.random().toString(36).slice(2, 10)}`, username?: string) => {
      const { json } = await ask('POST', '/register', {
        body: { email: `${name}@example.com`, password: 'correct horse 1', username },
      })
      return {
        key: String(json['api_key']),
        id: Number(json['id']),
        email: `${name}@example.com`,
        username: String(json['username']),
      }
    },
  }
}

/**
 * Repeats a request until `matches` accepts its result, and returns that result. Throws with the last one after `ms`: a
 * test that only waits would else pass.
 */
export const until = async <T>(ask: () => Promise<T>, matches: (answer: T) => boolean, ms = 120_000): Promise<T> => {
  const begun = performance.now()
  for (;;) {
    const answer = await ask()
    if (matches(answer)) return answer
    const waited = performance.now() - begun
    if (waited > ms) throw new Error(`not within ${ms} ms; the last was ${inspect(answer, { depth: 6 })}`)
    // most is there after some ms; on a busy machine, asking often delays what it waits for
    await new Promise((done) => setTimeout(done, Math.min(Math.max(waited / 8, 10), 500)))
  }
}
