import { Unavailable } from '../../lib/unavailable.ts'
import { answerOf, failureOf } from '../api/errors.ts'
import type { SendPage } from '../public/page/page.ts'
import { failurePage } from '../public/page/messages.ts'
import type { Site } from './server.ts'

const failure = failureOf(new Unavailable('the event log is not open yet'))

/** What a service responds that waits for its event log and has no read tables: 503 to everything. */
export const waitingSite = (sendPage: SendPage): Site => ({
  api: (_, res) => {
    res.writeHead(failure.status, {
      ...failure.headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
    })
    res.end(JSON.stringify(answerOf(failure)))
  },
  redirect: (req, res) => sendPage(req, res, failurePage('unavailable')),
  below: {},
})
