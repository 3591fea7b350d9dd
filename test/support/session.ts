import { expect } from 'chai'
import type { Answer, Ask } from './client.ts'

interface Client {
  readonly address: string
  readonly ask: (method: string, path: string, options?: Ask) => Promise<Answer>
}

/** The headers of a request that a page of the service sends, in a browser. */
export const samePage = (address: string, cookie?: string): Readonly<Record<string, string>> => ({
  Origin: address,
  'Sec-Fetch-Site': 'same-origin',
  ...(cookie === undefined ? {} : { Cookie: cookie }),
})

/** Returns the cookie that an answer sets, as a browser sends it back; undefined when it sets none. */
export const cookieIn = ({ headers }: Answer): string | undefined => headers.get('Set-Cookie')?.split(';')[0]

/** Signs in as the dashboard does. Returns what sends requests with the session. */
export const signIn = async (app: Client, email: string, password = 'correct horse 1', code?: string) => {
  const answer = await app.ask('POST', '/api/session', {
    body: { email, password, ...(code === undefined ? {} : { code }) },
    headers: samePage(app.address),
  })
  expect(answer.status, answer.text).to.equal(200)
  const cookie = cookieIn(answer) ?? ''
  return {
    id: Number(answer.json['session']),
    cookie,
    ask: (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) =>
      app.ask(method, path, {
        ...(body && { body }),
        headers: { ...samePage(app.address, cookie), ...headers },
      }),
  }
}
