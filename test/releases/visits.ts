import { answerForm } from '../../src/http/public/overlay/signed.ts'
import type { TestApp } from '../support/app.ts'
import { send } from '../support/raw.ts'

/** The service's own host and a branded domain, as visitors address them. */
export const ownHost = 'go.example.com'
export const brandHost = 'links.example.org'

const agents = {
  chrome:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  googlebot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  slack: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
} as const

/** Visits a public path. Throws when the service responds with an error. */
export const visit = async (
  app: TestApp,
  path: string,
  { agent = 'chrome', from = '8.8.8.8', host = ownHost, headers = {} }: VisitOptions = {},
) => {
  const answer = await send(app.address, 'GET', path, {
    headers: { Host: host, 'User-Agent': agents[agent], 'X-Forwarded-For': from, ...headers },
  })
  if (answer.status >= 500) throw new Error(`GET ${path} answered ${answer.status}`)
  return answer
}
export interface VisitOptions {
  readonly agent?: keyof typeof agents
  readonly from?: string
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** People with several browsers, bots, and a browser that prefetches. */
export const visitors: readonly VisitOptions[] = [
  {},
  {},
  { agent: 'firefox', from: '8.8.4.4', headers: { Referer: 'https://www.facebook.com/x', 'Accept-Language': 'de-DE' } },
  {
    agent: 'iphone',
    from: '1.1.1.1',
    headers: { Referer: 'https://t.co/abc', 'Accept-Language': 'fr;q=0.9, en;q=0.5' },
  },
  { agent: 'googlebot' },
  { agent: 'slack' },
  { agent: 'firefox', headers: { 'Sec-Purpose': 'prefetch' } },
]

/** Submits the form of an overlay. */
export const answer = async (app: TestApp, overlay: number, fields: Readonly<Record<string, string>>) => {
  const form = answerForm(app.app.ledger.keys.service, overlay, { link: 0, to: 'https://example.com/' }, Date.now())
  const { status, text } = await send(app.address, 'POST', form.action, {
    headers: { Host: ownHost, 'Content-Type': 'application/x-www-form-urlencoded', 'X-Forwarded-For': '8.8.8.8' },
    body: new URLSearchParams({ ...form.hidden, ...fields }).toString(),
  })
  if (status !== 200) throw new Error(`an answer to overlay ${overlay} got ${status}: ${text}`)
}

/** Submits answers to each overlay that has a form. */
export const answerAll = async (app: TestApp, [, contact, poll, news]: readonly number[]) => {
  await answer(app, contact!, { name: 'Vic Visitor', email: 'vic@example.net', message: 'Please call me.\nThanks' })
  await answer(app, contact!, { email: 'second@example.net', message: 'Me too' })
  await answer(app, poll!, { choice: 'Green tea' })
  await answer(app, news!, { email: 'reader@example.net' })
}

/** Sends visits while appends are blocked, so that only the spool has them. */
export const visitOnce = async (app: TestApp) => {
  for (const path of ['/direct', '/full', '/of-bob', '/overlaid-2', '/of-dan'])
    for (const options of visitors.slice(0, 5)) await visit(app, path, options)
}
