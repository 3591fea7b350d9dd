import { answerEvents } from '../../events/pages/answer.ts'
import type { Classified } from '../../events/statistics/click.ts'
import type { Recorded } from '../../events/event.ts'
import { type Event, type LogEvent, resourceEvents } from '../../events/index.ts'
import { clickId } from '../../events/ordinals.ts'
import { approvalEvents } from '../../events/approvals/approval.ts'
import { importEvents } from '../../events/imports/import.ts'
import { teamEvents } from '../../events/accounts/team.ts'
import { reclassificationEvents } from '../../events/statistics/reclassification.ts'
import { kinds, resourceKinds } from '../../events/kinds.ts'
import { type OtherStream, parseStreamId } from '../../events/streams.ts'
import { presentEvent } from '../accounts/export/history.ts'

/**
 * The readers of an event that leaves the service: keys that may read, those with the scope `account` only, or none;
 * `unknown`: only a newer release knows.
 */
type Audience = 'read' | 'account' | 'never' | 'unknown'

/** The readers of events of streams that are no resource. Many are about names, clicks, or work of the operator. */
const others: Readonly<Record<OtherStream, Audience>> = {
  answer: 'read',
  approval: 'account',
  block: 'never',
  channelitem: 'read',
  claim: 'never',
  clicks: 'never',
  import: 'read',
  log: 'never',
  projection: 'never',
  reclassification: 'account',
  report: 'never',
  spool: 'never',
  team: 'account',
  visits: 'never',
}
const shown: ReadonlyMap<string, Audience> = new Map([
  ...Object.entries(others),
  ...resourceKinds.map((kind) => [kind, kinds[kind].shown] as const),
])

/** Returns the readers of the events of a stream. */
export const shownTo = (stream: string): Audience => shown.get(parseStreamId(stream).kind) ?? 'unknown'

const typesShownTo = (reader: Audience): readonly string[] =>
  resourceKinds.filter((kind) => kinds[kind].shown === reader).flatMap((kind) => Object.keys(resourceEvents[kind]))
/** The types of events that need the scope `account`. */
export const accountTypes: readonly string[] = [
  ...typesShownTo('account'),
  ...Object.keys(reclassificationEvents),
  ...Object.keys(teamEvents),
  ...Object.keys(approvalEvents),
]
/** The types of events that every key with a scope to read may read. */
export const resourceTypes: readonly string[] = [
  ...typesShownTo('read'),
  ...Object.keys(answerEvents),
  ...Object.keys(importEvents),
]

/** A click as it leaves the service: the fields of the topic of clicks, and its identification. */
export interface PublicClick extends Classified {
  readonly id: string
  readonly event: number
  readonly index: number
  readonly rules: number
}

/** Returns a click of a batch. */
export const publicClick = (
  { rules, clicks, destinations, languages: lists, agents }: Event<'LinkClicked'>['data'],
  event: number,
  index: number,
): PublicClick => {
  const { languages, ...click } = clicks[index]!
  return {
    id: clickId(event, index),
    event,
    index,
    rules,
    ...click,
    destination: destinations[click.destination] ?? '',
    ...(languages === undefined ? {} : { languages: lists[languages] ?? [] }),
    agent: agents[click.agent] ?? '',
  }
}

/** How webhooks show events. A fence in the stream of a resource says nothing about the resource. */
export const asSent = {
  shownTo: ({ type, stream }: { readonly type: string; readonly stream: string }): Audience =>
    type === 'ClaimFenced' ? 'never' : shownTo(stream),
  event: (event: Recorded<LogEvent>, ordinal: number) => ({ event: ordinal, ...presentEvent(event) }),
  click: ({ data }: Recorded<Event<'LinkClicked'>>, ordinal: number, index: number) =>
    publicClick(data, ordinal, index),
}
