import { z } from 'zod'
import { Actor } from '../../events/event.ts'
import { Classified } from '../../events/statistics/click.ts'
import { type Answer, count, type Contract, text } from '../api/contract.ts'

const event = count
  .describe('the number of the event in the log, from 0 on: where to resume')
  .meta({ examples: [123_456] })
const { kind, key } = Actor.shape

/** A line of `GET /api/events`. */
export const EventLine = z.object({
  event,
  stream: text.describe('what has changed: the kind and id of a resource').meta({ examples: ['link-42'] }),
  revision: count.describe('the number of the event in its stream'),
  at: z.iso.datetime().describe('when it was stored, in UTC'),
  type: text.meta({ examples: ['LinkUpdated'] }),
  by: z
    .object({ kind, key })
    .describe(
      'who has caused it: the holder of an API key (`key` is its public id), an operator, the service or a visitor',
    ),
  request: text.describe('the `X-Request-Id` of the request, empty without one'),
  data: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('what has changed, without secrets; null when a newer release has written it'),
})

/** A line of `GET /api/clicks`. */
export const ClickLine = z.object({
  id: text
    .describe('of the click: its event, and its place among the clicks of the event')
    .meta({ examples: ['123456-17'] }),
  event,
  index: count.describe('its place among the clicks of the event, from 0 on'),
  rules: z.int().describe('version of the classification'),
  ...Classified.shape,
})
export type ClickLine = Answer<typeof ClickLine>

const failures = {
  429: { description: 'Too many requests, or the account has too many streams open.' },
  503: { description: 'The database cannot be reached, or the service has too many streams open.' },
} as const

const streamFields = {
  limit: 'lines at most; all of them if not sent',
  follow:
    '`true`: go on with what happens from now on, and do not end; default `false`, and `true` for server-sent events',
  link: 'the id of a link',
  campaign: 'the id of a campaign: its links as they are now',
  channel: 'the id of a channel: its items as they are now',
  domain: 'the address of a branded domain, empty for the service’s own: its links',
  tag: 'tags, separated by commas: links that have all of them now',
}

const description =
  'One JSON object on each line, oldest first, in the order of the log. Without `follow`, the answer ends with what there was when it began. Resume with the header `Last-Event-ID`, or with a later `from`: numbers are the same after a restart, a rebuild of the read tables, and a move to another engine. An answer that ends early ends its connection with an error. A client that does not read for a minute is disconnected; a line break (or a comment) every 15 seconds shows that the stream is alive. Counts as one request. An account may have several streams at the same time (`STREAMS_PER_ACCOUNT`, 10 if not set).'

const serverSentEvents = 'the same lines as server-sent events: the JSON as `data`, where to resume as `id`'

export const streamContract = {
  'GET /api/events': {
    summary: 'Stream the changes of the account and its resources',
    description: `${description} Changes of the account itself, such as its keys, are there for keys with the scope \`account\`.`,
    fields: {
      ...streamFields,
      from: 'the number of the first event, which is included, or `now`; 0 if not sent',
      type: 'types of events, separated by commas: `LinkCreated,LinkUpdated`',
    },
    failures,
    answer: EventLine.meta({ id: 'EventLine' }),
    answerType: 'application/x-ndjson',
    answersAs: { 'text/event-stream': serverSentEvents },
  },
  'GET /api/clicks': {
    summary: 'Stream the clicks of the account one by one',
    description: `${description} The fields are those of the topic of clicks, see \`/asyncapi/click.schema.json\`. A click keeps the class that it was recorded with.`,
    fields: {
      ...streamFields,
      made_by: 'the id of a member: clicks on what they, or a key of theirs, have made',
      from: 'the first event or the id of the first click, which is included, or `now`; 0 if not sent',
      class:
        '`human`, `bot`, `preview`, `prefetch` or `assistant`, or several of them, separated by commas; all if not sent',
    },
    failures,
    answer: ClickLine.meta({ id: 'ClickLine' }),
    answerType: 'application/x-ndjson',
    answersAs: {
      'text/event-stream': serverSentEvents,
      'text/csv':
        'the same clicks as CSV (RFC 4180) with a header; a text that begins with `=`, `+`, `-` or `@` has an apostrophe before it. Not with `follow`',
    },
  },
} satisfies Contract
