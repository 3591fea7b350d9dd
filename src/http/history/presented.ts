import type { Recorded } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import type { LinkFields } from '../../events/links/link.ts'
import { isUnknown } from '../../events/unknown.ts'
import { timestamp } from '../../lib/fields.ts'
import type { Route as SentBy } from '../../queries/history/revisions.ts'
import { columnsOf } from '../api/list/room.ts'
import { rulesByName } from '../links/rules.ts'
import { actingOf, type PresentedActor } from './actors.ts'

/**
 * A revision of a link: what an event made of it, until the next one. An event that only a newer release can read says
 * nothing.
 */
export interface Revision {
  readonly revision: number
  readonly event?: Recorded<LogEvent>
  readonly until?: string
  readonly fields?: LinkFields
  readonly deleted: boolean
}

const noRules = { location: [], device: [], browser: [], language: [] }

/** What a revision says about where visitors go. */
const rulesOf = (fields: LinkFields | undefined) => ({
  longurl: fields ? (fields.entered ?? fields.url) : '',
  ...rulesByName(fields ?? noRules),
  variants: fields?.variants ?? [],
  parameters: fields?.parameters ?? [],
  starts: fields?.starts ? timestamp(fields.starts) : '',
  expiry: fields?.expiry ? timestamp(fields.expiry) : '',
  expired_url: fields?.expired_url ?? '',
  max_clicks: fields?.max_clicks ?? null,
})

/** What an answer needs of a revision; not its event and fields, which may have 64 KB each. */
export const readOf = ({ revision, event, until, fields, deleted }: Revision, shown: ReadonlySet<string>) => ({
  revision,
  position: event?.position,
  from: event ? timestamp(event.at) : '',
  until: until === undefined ? '' : timestamp(until),
  acting: event && actingOf(event),
  request: event?.metadata.request ?? '',
  type: event === undefined ? '' : isUnknown(event) ? event.data.type : event.type,
  deleted,
  rules: columnsOf(rulesOf(fields), shown),
})
export type ReadRevision = ReturnType<typeof readOf>

export interface ShownRevision extends Omit<ReadRevision, 'acting' | 'position'> {
  readonly number: number | undefined
  readonly by: PresentedActor
  readonly sent: readonly SentBy[]
}

/** Returns what an answer has of a revision. */
export const present = ({ revision, number, from, until, by, request, type, deleted, rules, sent }: ShownRevision) => ({
  revision,
  event: number ?? null,
  from,
  until,
  actor: by,
  request,
  type,
  deleted,
  // those that were not asked for are left out of the answer
  ...(rules as ReturnType<typeof rulesOf>),
  clicks: sent.reduce((sum, { clicks }) => sum + clicks, 0),
  visits: sent.reduce((sum, { visits }) => sum + visits, 0),
  sent: sent.map(({ rule, destination, clicks, visits }) => ({ rule, destination, clicks, visits })),
})
