import { get } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import type { Answer } from './client.ts'
import { samePage } from './session.ts'

type Json = Answer['json']

/** Opens an address as a window does: `fetch` says of each request that a script has sent it. */
const navigate = (address: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
  new Promise((resolve, reject) => {
    get(address, { headers, agent: false }, (answer) => {
      const { headersDistinct, statusCode = 0 } = answer
      const all = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      )
      textOf(answer).then((body) => resolve(new Response(body, { status: statusCode, headers: all })), reject)
    }).on('error', reject)
  })

/**
 * Returns a browser without pages: it keeps cookies, and goes where it is told to. `added` are the headers that a proxy
 * adds to its requests.
 */
export const openBrowser = (baseUrl: string, added: Readonly<Record<string, string>> = {}) => {
  const cookies = new Map<string, string>()
  const header = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const keepCookies = (answer: Response) => {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/.test(line) || value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  return {
    cookie: (name: string) => cookies.get(name),
    keep: (name: string, value: string) => void cookies.set(name, value),
    /** Opens an address as a page, by a button of the dashboard or from the issuer. Does not follow where it leads. */
    open: async (path: string, sent: Readonly<Record<string, string>> = {}) =>
      keepCookies(
        await navigate(baseUrl + path, {
          Accept: 'application/json',
          Cookie: header(),
          'Sec-Fetch-Mode': 'navigate',
          'Sec-Fetch-Dest': 'document',
          'Sec-Fetch-Site': path.startsWith('/oidc/callback') ? 'cross-site' : 'same-origin',
          ...added,
          ...sent,
        }),
      ),
    /** Asks the API as a page of the dashboard does. */
    ask: async (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) => {
      const answer = keepCookies(
        await fetch(baseUrl + path, {
          method,
          headers: {
            ...samePage(baseUrl, header()),
            ...(body && { 'Content-Type': 'application/json' }),
            ...added,
            ...headers,
          },
          ...(body && { body: JSON.stringify(body) }),
        }),
      )
      const text = await answer.text()
      return { status: answer.status, text, json: JSON.parse(text) as Json }
    },
  }
}
