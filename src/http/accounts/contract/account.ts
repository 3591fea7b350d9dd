import { z } from 'zod'
import {
  type AnswerOf,
  address,
  done,
  id,
  type Contract,
  revision,
  success,
  text,
  time,
  updated,
} from '../../api/contract.ts'

import { series, seriesFields } from '../../statistics/contract/series.ts'

const apiKey = text.describe('shown only once').meta({ examples: ['ll_4f7c…'] })

export const accountContract = {
  'POST /register': {
    summary: 'Create an account',
    description:
      'Needs no API key. `REGISTRATION=closed` turns it off. Where the service sends mail (`SMTP_URL`), the answer is a message, the same for every e-mail address: a link in the mail leads to a page that creates the account and shows the API key.',
    fields: {
      password: 'at least 8 characters',
      username: '3 to 32 lower-case letters, digits, hyphens and underscores; random if not sent',
      timezone: 'a time zone of the tz database, such as that of the browser; UTC if it is not known or not sent',
    },
    example: { email: 'ann@example.com', password: 'correct horse battery' },
    answer: z.union([success({ id, username: text.meta({ examples: ['ann'] }), api_key: apiKey }), done]),
  },
  'GET /api/account': {
    summary: 'Get the account',
    answer: success({
      data: z
        .object({
          id,
          email: text.meta({ examples: ['ann@example.com'] }),
          username: text.meta({ examples: ['ann'] }),
          avatar: address,
          timezone: text.describe('of its days on the dashboard').meta({ examples: ['Europe/Berlin'] }),
          status: z.literal('pro'),
          expires: time,
          registered: time,
          erases: z
            .union([time, z.literal('')])
            .describe('when the account is erased; empty unless that was asked for'),
          operator: z.literal(true).optional().describe('only for a session of an operator'),
          revision,
        })
        .meta({ id: 'Account' }),
    }),
  },
  'PUT /api/account/update': {
    summary: 'Change the e-mail address, the password or the time zone',
    description:
      'The key of the registration needs nothing else while it has all scopes, no end and no networks, in an account without a second factor. All others need `current_password`, and a `code` where there is a second factor, for all but the time zone. Where the service sends mail, a new e-mail address counts once the link that is sent to it was confirmed, and the old address is told.',
    fields: {
      password: 'at least 8 characters',
      timezone: 'a time zone of the tz database: `Europe/Berlin`',
      current_password: 'the password so far; when it is sent, it must be right',
      code: 'six digits of the authenticator app, or a recovery code; with `current_password`, where there is a second factor',
    },
    example: { email: 'ann.smith@example.com' },
    answer: updated,
  },
  'POST /api/account/reset': {
    summary: 'Ask for a link that sets a new password',
    description:
      'Needs no API key. The answer is the same whether the address is known. The link works once, within an hour. API keys stay valid. 404 where the service sends no mail.',
    example: { email: 'ann@example.com' },
    answer: done,
  },
  'POST /api/account/erase': {
    summary: 'Have the account erased for good',
    description:
      'After a delay that the service sets (`ERASURE_DELAY_DAYS`, 7 days if not set). Until then the account works as before, shows the time as `erases`, and the erasure can be cancelled; a new password or second factor cancels it, too. Then its links, pages and codes answer 404, its personal data cannot be read any more, and its addresses stay reserved. There is no way back.',
    fields: {
      current_password: 'the password of the account',
      code: 'of the second factor, where there is one, or a recovery code',
    },
    example: { current_password: 'correct horse battery' },
    answer: success({ message: text, erases: time, revision }),
  },
  'DELETE /api/account/erase': { summary: 'Cancel the erasure of the account', answer: updated },
  'GET /api/account/export': {
    summary: 'Export everything that the account has',
    description:
      'An archive (`.tar.gz`) with all resources as the API answers them, their history, and every click, in files with one JSON object on each line; `README.txt` in it says what each file has. It is made while it is sent: when the connection ends early, the archive is not complete, and lacks its last file, `manifest.json`. Counts as one request.',
    failures: { 409: { description: 'An export of the account is still running.' } },
    answer: z.file().mime('application/gzip'),
    answerType: 'application/gzip',
  },
  'GET /api/account/stats': {
    summary: 'Get clicks over time of all links, QR codes and entries of bio pages',
    fields: seriesFields,
    answer: series,
  },
} satisfies Contract

export type FoundAccount = AnswerOf<typeof accountContract, 'GET /api/account'>
export type Account = FoundAccount['data']
export type Registered = AnswerOf<typeof accountContract, 'POST /register'>
