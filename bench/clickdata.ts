import { randomBytes, randomUUID } from 'node:crypto'
import type { Click } from '../src/events/statistics/click.ts'
import { systemMetadata } from '../src/events/event.ts'
import type { Event } from '../src/events/index.ts'
import { versionOf } from '../src/events/upcast.ts'
import type { Database } from '../src/postgres/database.ts'

/** What a set of clicks looks like: their links, over which time, and by how many people. */
export interface ClickData {
  readonly clicks: number
  readonly links: number
  /**
   * the share of the clicks that link 1 gets; the others follow a distribution in which a few links have most of them
   */
  readonly hot: number
  readonly accounts: number
  /** id of the first link, by default 1 */
  readonly firstLink?: number
  /** instead of several accounts */
  readonly account?: number
  readonly visitors: number
  readonly from: Date
  readonly to: Date
  /** what the n-th click has instead of what is made up for it */
  readonly special?: (n: number) => Partial<Click>
}

/** clicks in one event, as many as the recorder puts into one at most */
export const perEvent = 500
/** events in one insert: about 6 MB of JSON */
const perInsert = 40

const below = (n: number) => Math.floor(Math.random() * n)
const pick = <T>(...values: readonly [T, ...T[]]): T => values[below(values.length)] ?? values[0]
/** Returns a number from 1 to `n`; small ones are much more frequent. */
const skewed = (n: number) => Math.max(1, Math.floor(n ** Math.random()))

const agents = [
  'Mozilla Windows NT Win AppleWebKit KHTML like Gecko Chrome Safari',
  'Mozilla iPhone CPU iPhone OS like Mac OS AppleWebKit KHTML like Gecko Version Mobile Safari',
  'Mozilla Linux Android AppleWebKit KHTML like Gecko Chrome Mobile Safari',
  'Mozilla Macintosh Intel Mac OS Gecko Firefox',
]
const languages = [['en'], ['en', 'de'], ['de', 'en'], ['pt', 'en'], ['fr'], []]

const clickAt = (data: ClickData, at: Date, progress: number): Click => {
  const { links, hot, accounts, visitors, firstLink = 1 } = data
  const link = Math.random() < hot ? 1 : skewed(links)
  // one link of ten has rules, and was changed
  const hasRules = link % 10 === 1
  return {
    at: at.toISOString(),
    account: data.account ?? (link % accounts) + 1,
    link: firstLink + link - 1,
    revision: hasRules ? Math.floor(3 * progress) : 0,
    destination: link % 50,
    rule: hasRules ? pick('link', 'link', 'device:ios', 'language:fr') : 'link',
    source: { kind: pick('link', 'link', 'link', 'qr', 'rotator'), id: link },
    country: pick('US', 'DE', 'BR', 'IN', 'JP', 'FR', 'CA', 'GB', 'ES', 'IT', 'NL', ''),
    language: pick('en', 'de', 'pt', 'fr', ''),
    languages: below(languages.length),
    referrer: pick('', '', 'x.com', 'google.com', 'facebook.com', `site-${skewed(3000)}.example`),
    browser: { family: pick('Chrome', 'Safari', 'Firefox', 'Edge'), version: String(100 + below(40)) },
    os: { family: pick('Windows', 'iOS', 'Android', 'macOS', 'Linux'), version: '' },
    device: pick('desktop', 'mobile', 'tablet'),
    class: pick('human', 'human', 'human', 'human', 'bot'),
    agent: below(agents.length),
    visitor: ((BigInt(below(visitors)) * 0x9e37_79b9_7f4a_7c15n) & 0xffff_ffff_ffff_ffffn)
      .toString(16)
      .padStart(16, '0'),
  }
}

const eventOf = (data: ClickData, first: number, count: number): Event<'LinkClicked'> => {
  const span = data.to.getTime() - data.from.getTime()
  const clicks = Array.from({ length: count }, (_, i) => ({
    ...clickAt(
      data,
      new Date(data.from.getTime() + Math.floor((span * (first + i)) / data.clicks)),
      (first + i) / data.clicks,
    ),
    ...data.special?.(first + i),
  }))
  const destinations = Array.from({ length: 50 }, (_, n) => `https://example.com/some/long/path/${n}`)
  return {
    type: 'LinkClicked',
    data: {
      rules: 1,
      agents,
      destinations,
      languages,
      clicks,
      salt: randomBytes(16).toString('base64url'),
      upTo: { bench: first + count },
    },
  }
}

/**
 * Appends clicks to the stream of a partition, in an order and form as the recorder would. It inserts into the log
 * directly, so that millions take minutes; nothing else may write to the log meanwhile.
 */
export const appendClicks = async (db: Database, data: ClickData, onInserted: (clicks: number) => void = () => {}) => {
  const stream = 'clicks-local-0'
  const { rows } = await db.raw<{ rows: { head: string; revision: string }[] }>(
    `select coalesce(max(position), 0) as head, coalesce(max(revision) filter (where stream = ?), -1) as revision from log.events`,
    [stream],
  )
  let [position, revision] = [Number(rows[0]?.head), Number(rows[0]?.revision)]
  for (let done = 0; done < data.clicks;) {
    const events: Event<'LinkClicked'>[] = []
    for (; events.length < perInsert && done < data.clicks; done += perEvent)
      events.push(eventOf(data, done, Math.min(perEvent, data.clicks - done)))
    await db.raw(
      `insert into log.events (position, stream, revision, id, type, data, metadata, at)
       select ? + nr, ?, ? + nr, id, 'LinkClicked', data, metadata, at
       from unnest(?::uuid[], ?::json[], ?::json[], ?::timestamptz[]) with ordinality as e (id, data, metadata, at, nr)`,
      [
        position,
        stream,
        revision,
        events.map(() => randomUUID()),
        events.map((event) => JSON.stringify(event.data)),
        events.map(() => JSON.stringify({ ...systemMetadata(), v: versionOf('LinkClicked') })),
        // clicks are recorded soon
        events.map(({ data: { clicks } }) => clicks.at(-1)!.at),
      ],
    )
    position += events.length
    revision += events.length
    onInserted(done)
  }
}
