import { randomUUID } from 'node:crypto'
import type { Classified, Click } from '../../src/events/statistics/click.ts'
import type { Metadata, New, Recorded } from '../../src/events/event.ts'
import type { DomainEvent, Event } from '../../src/events/index.ts'
import { completed, type LinkFields } from '../../src/events/links/link.ts'
import { link } from '../../src/commands/links/link.ts'

/** Returns a time on the day of the tests (ISO 8601): so many seconds after midnight. */
export const at = (seconds: number) => new Date(Date.UTC(2026, 0, 2) + seconds * 1000).toISOString()

export const metadata = (account: number | null = 1, when = at(0)): Metadata => ({
  v: 1,
  at: when,
  account,
  actor: { kind: 'service' },
  request: 'r',
  command: randomUUID(),
})
/** Returns an event that is ready to be appended. */
export const fresh = <E extends DomainEvent>(event: E, account: number | null = 1, when = at(0)): New<E> => ({
  ...event,
  id: randomUUID(),
  metadata: metadata(account, when),
})

const ownerOf = ({ type, data }: DomainEvent) => {
  if (type === 'AccountRegistered') return data.id
  return 'account' in data ? data.account : 1
}
/** Returns the stream of an event: `LinkUpdated` belongs to `link-<id>`, API keys and second factors to their account. */
const streamOf = ({ type, data }: DomainEvent) => {
  const noun = /^(?:ApiKey|SecondFactor|RecoveryCode)/.test(type)
    ? 'account'
    : /^[A-Z][a-z]+/.exec(type)![0].toLowerCase()
  return `${noun}-${'id' in data ? data.id : 0}`
}

/** Returns events as the log returns them: positions from 1n, one second apart. Recorded events stay as they are. */
export const recorded = (events: readonly (DomainEvent | Recorded<DomainEvent>)[]): Recorded<DomainEvent>[] => {
  const revisions = new Map<string, bigint>()
  return events.map((event, i) => {
    const stream = 'stream' in event ? event.stream : streamOf(event)
    const revision = (revisions.get(stream) ?? -1n) + 1n
    revisions.set(stream, revision)
    if ('position' in event) return event
    const when = at(i + 1)
    return { ...fresh(event, ownerOf(event), when), stream, revision, position: BigInt(i + 1), at: when }
  })
}

/** Returns an event as the log returns it from a stream. */
export const inStream = (event: DomainEvent, stream: string, position: bigint): Recorded<DomainEvent> => {
  const when = at(Number(position))
  return { ...fresh(event, ownerOf(event), when), stream, revision: position - 1n, position, at: when }
}

/** The fields of a link with the alias `Hello` to example.com. */
export const linkFields = completed({ ...link.initialState.fields, alias: 'Hello', url: 'https://example.com/' })
export const linkCreated = ({
  id = 42,
  account = 1,
  password = null,
  token = 't',
  ...fields
}: Partial<LinkFields> & {
  id?: number
  account?: number
  password?: string | null
  token?: string
} = {}): Event<'LinkCreated'> => ({
  type: 'LinkCreated',
  data: { id, account, ...linkFields, ...fields, password, token },
})

export const click = (over: Partial<Click> = {}): Click => ({
  at: at(1),
  account: 1,
  link: 42,
  revision: 0,
  destination: 0,
  rule: 'link',
  source: { kind: 'link', id: over.link ?? 42 },
  country: 'CA',
  language: 'fr',
  referrer: '',
  browser: { family: 'Firefox', version: '130' },
  os: { family: 'Linux', version: '' },
  device: 'desktop',
  class: 'human',
  agent: 0,
  visitor: 'ab',
  ...over,
})
/** Returns a click as it is before it comes into a batch. */
export const classified = ({
  destination = 'https://example.com/',
  agent = 'Firefox',
  languages,
  ...over
}: Partial<Classified> = {}): Classified => {
  const { languages: _, ...rest } = click(over)
  return { ...rest, destination, agent, ...(languages && { languages }) }
}
export const clicked = (...clicks: readonly Click[]): Event<'LinkClicked'> => ({
  type: 'LinkClicked',
  data: {
    rules: 1,
    agents: ['Mozilla'],
    destinations: ['https://example.com/'],
    languages: [],
    upTo: { s: clicks.length },
    clicks: [...clicks],
  },
})
