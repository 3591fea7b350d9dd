import { problemCodes } from '../../lib/problems/problem.ts'

const schema = { $ref: '#/components/schemas/Failure' }
const content = {
  'application/json': { schema },
  'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
}
const retry = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
const whole = { type: 'integer', minimum: 0 }

/** The headers of answers, by name. */
export const headers = {
  'X-Request-Id': {
    description:
      'id of the request, also in the log and in the metadata of its events: the one that was sent, if it has at most 64 letters, digits, dots, hyphens and underscores',
    schema: { type: 'string' },
  },
  'X-RateLimit-Limit': { description: 'requests per minute', schema: whole },
  'X-RateLimit-Remaining': { description: 'requests that are left in this minute', schema: whole },
  'X-RateLimit-Reset': { description: 'end of the minute, in Unix seconds', schema: whole },
  RateLimit: {
    description: 'requests that are left (`r`) and seconds until the limit is full again (`t`), as in the IETF draft',
    schema: { type: 'string', examples: ['"default";r=29;t=60'] },
  },
  'RateLimit-Policy': {
    description: 'requests (`q`) in so many seconds (`w`), as in the IETF draft',
    schema: { type: 'string', examples: ['"default";q=30;w=60'] },
  },
  'Linkledger-At': {
    description:
      'the newest change and the newest click that the answer contains, as numbers of their events in the log; as `at`, it asks for the same answer again. Of a period without an end also the time at which it ends, as `, to=2026-03-01T12:00:00.123Z`',
    schema: { type: 'string', examples: ['domain=123456, clicks=98765'] },
  },
  'X-Projection-Pending': {
    description:
      '1 when the change is stored but lists do not show it yet; in an answer to GET: parts of it are newer than lists are',
    schema: { type: 'string', const: '1' },
  },
  'Idempotent-Replayed': {
    description: '`true` when the answer is the stored one of an earlier request with the same `Idempotency-Key`',
    schema: { type: 'string', const: 'true' },
  },
  ETag: {
    description: 'the revision, the clicks if there are statistics, and a digest of the answer',
    schema: { type: 'string', examples: ['"7.1042-pWmG3kqz0Ab"'] },
  },
  'Content-Disposition': {
    description: 'the name of the file: `attachment; filename="…"`',
    schema: { type: 'string' },
  },
  Link: { description: 'the next page of a list: `</api/urls?page=2>; rel="next"`', schema: { type: 'string' } },
  'Retry-After': { description: 'seconds to wait', schema: whole },
} as const

/** What every failure and every failed row has besides its sentence. */
export const problemProperties = {
  code: {
    type: 'string',
    enum: problemCodes,
    description: 'the reason: stable, for programs. A newer release may have further ones',
    examples: ['too_long'],
  },
  field: {
    type: 'string',
    description: 'the field that it is about, with dots inside of it; missing when it is about none',
    examples: ['title'],
  },
  params: {
    type: 'object',
    additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    description:
      'what the sentence needs besides the code, to say it in any language; `what` tells reasons with the same code apart',
    examples: [{ max: 255 }],
  },
} as const

/**
 * Every answer to a request that failed: error 1, a sentence that names the field and what would be right, and the same
 * as a code.
 */
export const failure = {
  type: 'object',
  properties: {
    error: { const: 1 },
    message: {
      type: 'string',
      examples: ['`url` must be an address with http or https, for example https://example.com.'],
    },
    ...problemProperties,
    request: { type: 'string', description: 'with status 500: the id to report to the operator' },
    revision: { type: 'integer', description: 'with status 412: the revision of the resource now' },
  },
  required: ['error', 'message', 'code', 'params'],
} as const

/** The same for a client that accepts `application/problem+json` (RFC 9457). */
export const problem = {
  type: 'object',
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', examples: ['Bad Request'] },
    status: { type: 'integer' },
    detail: failure.properties.message,
    instance: { type: 'string', description: 'names the request by its id', examples: ['urn:uuid:…'] },
    ...problemProperties,
    revision: failure.properties.revision,
    error: { const: 1 },
    message: failure.properties.message,
  },
  required: ['type', 'title', 'status', 'detail', 'instance', 'error', 'message', 'code', 'params'],
} as const

/** Headers of requests, by name. */
export const requestHeaders = {
  'Idempotency-Key':
    '1 to 255 printable ASCII characters, such as a UUID: for 24 hours, the same request with this key is executed once and gets the same answer',
  'Last-Event-ID':
    'the id of the last line that the client has: the stream goes on after it and ignores `from`. Clients of server-sent events send it by themselves',
  'If-None-Match': 'ETags of answers that the client has: if one is still right, the answer is 304 without a body',
  'If-Match':
    'an ETag, a list of them, or a revision in quotes: the resource is changed only if it has one of their revisions, else the answer is 412',
} as const

/** The parameter of GET that asks for an earlier moment. */
const atParameter = {
  name: 'at',
  in: 'query',
  description:
    'the answer as it was then: a date and time in UTC or `tz`, a day for its end, ISO 8601 with an offset, an event as `event:123456`, or the value of `Linkledger-At` of another answer',
  schema: {
    type: 'string',
    examples: ['2026-03-01 12:00:00', '2026-03-01', 'event:123456', 'domain=123456, clicks=98765'],
  },
}
/** The parameter of GET that names the time zone of the reader, wherever days or times are asked for or answered. */
const zoneParameter = {
  name: 'tz',
  in: 'query',
  description:
    'a time zone of the tz database: days, weeks and months are those of there, and so are times without an offset in `from`, `to` and `at`; UTC if not sent. Times in answers stay in UTC',
  schema: { type: 'string', examples: ['Europe/Berlin'] },
}

/** Returns those that a GET has whose answer may be of the past, or that asks for a period. */
export const timeFields = (hasPast: boolean, hasPeriod: boolean) => [
  ...(hasPast ? [atParameter] : []),
  ...(hasPast || hasPeriod ? [zoneParameter] : []),
]

/** What a request is answered whose change has to be approved first. */
export const proposed = {
  type: 'object',
  properties: {
    error: { const: 0 },
    proposal: { type: 'integer', description: 'the number under which it waits', examples: [7] },
    message: { type: 'string', examples: ['The change waits for the approval of a second person.'] },
    id: { type: 'integer', description: 'of a link, as without rules' },
    short: { type: 'string' },
    shorturl: { type: 'string' },
  },
  required: ['error', 'proposal', 'message'],
} as const

/** The answers to requests that fail, by status. */
export const failures = {
  400: { description: 'A field is invalid, a name is taken, or the body is not a JSON object.', content },
  401: {
    description: 'The API key is missing, unknown or expired.',
    headers: { 'WWW-Authenticate': { schema: { type: 'string' } } },
    content,
  },
  403: {
    description:
      'The account is disabled or has reached a quota, or the API key lacks the scope that the message names, or a member the role.',
    content,
  },
  404: { description: 'There is no such resource in this account, or no such account for this session.', content },
  304: {
    description: 'The answer is one that `If-None-Match` names.',
    headers: { ETag: { $ref: '#/components/headers/ETag' } },
  },
  412: { description: 'The resource does not have a revision that `If-Match` names.', content },
  409: { description: 'The first request with this `Idempotency-Key` is still running.', headers: retry, content },
  422: { description: 'The `Idempotency-Key` was used for another request.', content },
  413: { description: 'The body is larger than 64 KiB.', content },
  415: { description: 'The body is not sent as JSON, or is compressed.', content },
  429: { description: 'Too many requests.', headers: retry, content },
  431: { description: 'A header with ETags has more than 2,048 characters or 50 of them.', content },
  500: { description: 'An error in the service.', content },
  503: {
    description:
      'A database cannot be reached, or does not respond in time. The change may have been stored: read it first, then try again.',
    headers: retry,
    content,
  },
} as const

/** The answers that several routes have, by status. */
export const responses = {
  202: {
    description:
      'Nothing is changed yet: by the rules of the account, a second person has to approve it (`POST /api/proposal/:id/approve`).',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Proposed' } } },
  },
  ...failures,
} as const
/** What several routes answer. */
export const shapes = { Failure: failure, Problem: problem, Proposed: proposed } as const

/** What authenticates a request. */
export const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'the API key of your account' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'linkledger_session',
    description:
      'a session of the dashboard, for pages of the service only; over https, its name begins with `__Host-`',
  },
}
