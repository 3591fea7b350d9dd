import type { Answer } from './client.ts'
import { samePage } from './session.ts'

type Json = Answer['json']

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
    /** Opens an address of the service as a page, and does not follow where it leads. */
    open: async (path: string) =>
      keepCookies(
        await fetch(baseUrl + path, {
          redirect: 'manual',
          headers: {
            Accept: 'application/json',
            Cookie: header(),
            'Sec-Fetch-Mode': 'navigate',
            'Sec-Fetch-Site': 'cross-site',
            ...added,
          },
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
