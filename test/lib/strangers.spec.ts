import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { answerHeaders, cutHeaders, isWithin, readHeaders, requestHeaders } from '../../src/lib/strangers.ts'
import { turnGrowth } from '../support/turns.ts'

/** Returns how many arrays and objects the deepest value is in, and how many values there are. */
const measure = (value: unknown): { levels: number; values: number } => {
  const inside = typeof value === 'object' && value !== null ? Object.values(value).map(measure) : []
  return {
    levels: Math.max(0, ...inside.map(({ levels }) => levels + 1)),
    values: inside.reduce((sum, { values }) => sum + values, 1),
  }
}

describe('the limits of a JSON text', () => {
  it('count the levels and the values of any JSON as they are once it is parsed', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1), (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        const { levels, values } = measure(JSON.parse(text))
        const exact = isWithin(text, { levels, values })
        const lower = [isWithin(text, { levels: levels - 1, values }), isWithin(text, { levels, values: values - 1 })]
        expect([exact, ...lower], text).to.deep.equal([true, levels === 0, false])
      }),
    )
  })

  it('ignore the content of strings, also quotation marks, backslashes and brackets', () => {
    const limits = { levels: 1, values: 3 }
    for (const text of ['["[[[", ",,,"]', '["\\"[[[", "\\\\"]', '["\\\\\\"[", ","]', '{"[[{,":"}"}'])
      expect(isWithin(text, limits), text).to.equal(true)
    expect(isWithin('["\\\\", [[1]]]', limits)).to.equal(false)
  })

  it('take time in proportion to the length of the text, for any content', async () => {
    const none = { levels: Infinity, values: Infinity }
    for (const part of ['[', '"', '\\', '"\\', '\\"', '{"a":', '[],', ' '])
      for (const begin of ['', '"']) {
        const textOf = (size: number) => begin + part.repeat(size / part.length)
        const growth = await turnGrowth(textOf, (text) => isWithin(text, none), {
          from: 1 << 17,
          to: 1 << 19,
          times: 4,
        })
        // 16 where each character looks at all before it
        expect(growth, begin + part).to.be.at.most(8)
      }
  })
})

describe('the headers of a request', () => {
  it('are cut at their limits, and those of proxies keep their end', () => {
    const long = (name: string) => `${name}${'x'.repeat(20_000)}${name}`
    const headers = Object.fromEntries(Object.keys(requestHeaders).map((name) => [name, long(name)]))
    cutHeaders(headers)
    for (const [name, limit] of Object.entries(requestHeaders)) {
      expect(headers[name], name).to.have.length(limit)
      expect(headers[name]![name === 'x-forwarded-for' ? 'endsWith' : 'startsWith'](name), name).to.equal(true)
    }
  })

  it('stay as they are within their limits', () => {
    const headers = Object.fromEntries(Object.entries(requestHeaders).map(([name, limit]) => [name, 'x'.repeat(limit)]))
    const before = { ...headers }
    cutHeaders(headers)
    expect(headers).to.deep.equal(before)
  })
})

describe('the headers of an answer', () => {
  it('count as not sent above their limits', () => {
    const sent = (more: number) =>
      Object.fromEntries(Object.entries(answerHeaders).map(([name, limit]) => [name, 'x'.repeat(limit + more)]))
    expect(readHeaders({ ...sent(0), server: 'x' })).to.deep.equal(sent(0))
    expect(readHeaders(sent(1))).to.deep.equal({})
  })
})

/** The files that use something by which texts of strangers arrive, or by which text is parsed. */
const ways: Readonly<Record<string, { readonly pattern: RegExp; readonly files: readonly string[] }>> = {
  'a server or client of HTTP': {
    pattern:
      /^import (?:https? from|https?, \{|\{[^}]*\b(?:createServer|request|get)\b[^}]*\} from) ?[^;]*'node:https?'/m,
    files: ['http/server/operatorport.ts', 'http/server/server.ts', 'lib/answer.ts'],
  },
  'fetch of Node': { pattern: /(?<![\w.])fetch\(/, files: ['cli/apiclient.ts'] },
  'the body of a request or an answer': {
    pattern: /for await \([^)]* of (?:ctx\.)?(?:req|response)\b|\b(?:req|response)\.on\('data'|bodyParser\(/,
    files: ['http/api/body.ts', 'http/public/postedform.ts', 'lib/answer.ts', 'lib/post.ts'],
  },
  'texts in a normal form of Unicode': { pattern: /\.normalize\(/, files: ['lib/strangers.ts'] },
  'hosts that are written in ASCII': {
    pattern: /domainTo(?:ASCII|Unicode)\(|new URL\(`http/,
    files: ['lib/address.ts', 'lib/blocklist.ts', 'lib/url.ts'],
  },
  DNS: { pattern: /\.(?:resolve\w*|reverse|lookup)\((?:host|name)\b/, files: ['lib/dns.ts', 'lib/lookup.ts'] },
  'all headers, by a name that only the program knows': {
    pattern: /headers(?:Distinct)?\[(?!')/,
    files: ['lib/strangers.ts'],
  },
  // apart from strangers.ts, of texts that the service has written itself, or the command line reads in its own process
  'JSON.parse': {
    pattern: /JSON\.parse\(/,
    files: [
      'app/jobs/blocklisturl.ts',
      'app/proof/leafhash.ts',
      'app/proof/proofs.ts',
      'cli/proof/proof.ts',
      'clicks/kafka/message.ts',
      'clicks/spool/segment.ts',
      'events/proof/receipt.ts',
      'events/rawtext.ts',
      'events/sealing.ts',
      'http/accounts/export/export.ts',
      'http/accounts/flow.ts',
      'http/accounts/passkey/ceremony.ts',
      'http/api/list/cursor.ts',
      'http/dashboard.ts',
      'http/docs/schemas.ts',
      'http/pages/answer.ts',
      'http/public/page/scripts.ts',
      'http/qr/address.ts',
      'lib/chain.ts',
      'lib/fields.ts',
      'lib/strangers.ts',
      'lib/version.ts',
      'postgres/binaries.ts',
      'projections/statistics/labels.ts',
      'security/directory.ts',
      'security/erasures.ts',
      'security/idempotency.ts',
      'security/onetimelinks.ts',
      'security/openid.ts',
      'security/outbox.ts',
      'store/eventstoredb/append.ts',
    ],
  },
}

/** What names a header in the sources: the name is the first group that matches. */
const reads = [
  /\bheaders(?:Distinct)?\['([a-z][a-z-]*)'\]/g,
  /\b(?:req|request|response)\.headers\.([a-z]\w*)/g,
  /(?<![\w.])headers\.(host|cookie|referer|origin|accept|authorization|dnt|location|etag)\b/g,
  /\{ headers: \{ ([a-z]\w*)(?![\w:])/g,
  /\bconst \{ (\w+)[^}]*\} = (?:req\.)?headers\b/g,
  /\bctx\.get\('([\w-]+)'\)/g,
  /\bheader\('([\w-]+)'\)/g,
]

describe('the texts of strangers', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /^(?!web\/).*\.ts$/.test(path))
    .map((path) => ({ path, text: readFileSync(`src/${path}`, 'utf8') }))

  for (const [what, { pattern, files }] of Object.entries(ways))
    it(`arrive and are parsed where they have limits: ${what}`, () => {
      const users = sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
      expect(users.sort()).to.deep.equal([...files].sort())
    })

  it('are read from no header without a limit', () => {
    const known = new Set([...Object.keys(requestHeaders), ...Object.keys(answerHeaders)])
    const found = sources.flatMap(({ path, text }) =>
      reads.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => `${path}: ${name.toLowerCase()}`)),
    )
    expect(found.length).to.be.above(30)
    expect(found.filter((one) => !known.has(one.split(': ')[1]!))).to.deep.equal([])
  })

  it('are listed in the documentation with the limits of their headers', () => {
    const rows = readFileSync('docs/threats.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|'))
    for (const [name, limit] of Object.entries({ ...requestHeaders, ...answerHeaders }))
      expect(rows.find((row) => row.includes(`\`${name}\``)) ?? `no row of ${name}`).to.contain(
        limit.toLocaleString('en'),
      )
  })
})
