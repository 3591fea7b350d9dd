import { z } from 'zod'
import { address, count, done, id, type Reference, revision, success, text, time, updated } from './describe.ts'

const dimension = z.record(z.string(), count)
const series = success({
  data: z.object({
    from: time,
    to: time.describe('exclusive'),
    interval: z.enum(['hour', 'day', 'month']),
    total: z.object({
      clicks: count,
      uniqueClicks: count,
      visits: count.describe('including bots, link previewers and prefetching browsers'),
      suspects: count.describe('clicks beyond 30 per minute by one visitor on one link'),
    }),
    series: z.array(z.object({ at: time, clicks: count, uniqueClicks: count })),
    by: z.record(z.string(), dimension).describe('for each requested dimension, clicks by label'),
  }),
})
const seriesFields = {
  from: 'a time or a day; 30 days before `to` if not sent',
  to: 'a time or a day, which is included; now if not sent',
  interval: '`hour`, `day` (default) or `month`; at most 2,000 intervals',
  by: 'dimensions, separated by commas: `country`, `referrer`, `browser`, `os`, `device`, `language`, `source`',
}

const apiKey = text.describe('shown only once').meta({ examples: ['ll_4f7c…'] })

const linkFields = { ...seriesFields, by: `${seriesFields.by}, \`variant\`` }

export const accountReference: Reference = {
  'POST /register': {
    summary: 'Create an account',
    description:
      'Needs no API key. `REGISTRATION=closed` turns it off. Where the service sends mail (`SMTP_URL`), the answer is a message, the same for every e-mail address: a link in the mail leads to a page that creates the account and shows the API key.',
    fields: {
      password: 'at least 8 characters',
      username: '3 to 32 lower-case letters, digits, hyphens and underscores; made from the e-mail address if not sent',
    },
    example: { email: 'ann@example.com', password: 'correct horse battery' },
    answer: z.union([success({ id, username: text.meta({ examples: ['ann'] }), api_key: apiKey }), done]),
  },
  'GET /api/account': {
    summary: 'Get the account',
    answer: success({
      data: z.object({
        id,
        email: text.meta({ examples: ['ann@example.com'] }),
        username: text.meta({ examples: ['ann'] }),
        avatar: address,
        status: z.literal('pro'),
        expires: time,
        registered: time,
        erases: z.union([time, z.literal('')]).describe('when the account is erased; empty unless that was asked for'),
        revision,
      }),
    }),
  },
  'PUT /api/account/update': {
    summary: 'Change the e-mail address or the password',
    description:
      'Where the service sends mail, a new e-mail address counts once the link that is sent to it was confirmed, and the old address is told.',
    fields: {
      password: 'at least 8 characters',
      current_password: 'the password so far; when it is sent, it must be right',
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
      'After a delay that the service sets (`ERASURE_DELAY_DAYS`, 7 days if not set). Until then the account works as before, shows the time as `erases`, and the erasure can be cancelled. Then its links, pages and codes answer 404, its personal data cannot be read any more, and its addresses stay reserved. There is no way back.',
    fields: { current_password: 'the password of the account' },
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
}

export const linkStatsReference: Reference = {
  'GET /api/url/:id/stats': { summary: 'Get clicks over time of a link', fields: linkFields, answer: series },
}
