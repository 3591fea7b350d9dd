const schema = { $ref: '#/components/schemas/Failure' }
const content = { 'application/json': { schema } }
const retry = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
const whole = { type: 'integer', minimum: 0 }

/** The headers of answers, by name. */
export const headers = {
  'X-Request-Id': { description: 'id of the request, also in the metadata of its events', schema: { type: 'string' } },
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
  'X-Projection-Pending': {
    description: '1 when the change is stored but lists do not show it yet',
    schema: { type: 'string', const: '1' },
  },
  Link: { description: 'the next page of a list: `</api/urls?page=2>; rel="next"`', schema: { type: 'string' } },
  'Retry-After': { description: 'seconds to wait', schema: whole },
} as const

/** Every answer to a request that failed: error 1 and a sentence that names the field and what would be right. */
export const failure = {
  type: 'object',
  properties: {
    error: { const: 1 },
    message: {
      type: 'string',
      examples: ['`url` must be an address with http or https, for example https://example.com.'],
    },
    request: { type: 'string', description: 'with status 500: the id to report to the operator' },
  },
  required: ['error', 'message'],
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
      'The account is disabled or has reached a quota, or the API key lacks the scope that the message names.',
    content,
  },
  404: { description: 'There is no such resource in this account.', content },
  413: { description: 'The body is larger than 64 KiB.', content },
  415: { description: 'The body is not sent as JSON, or is compressed.', content },
  429: { description: 'Too many requests.', headers: retry, content },
  500: { description: 'An error in the service.', content },
  503: {
    description:
      'A database cannot be reached, or does not respond in time. The change may have been stored: read it first, then try again.',
    headers: retry,
    content,
  },
} as const
