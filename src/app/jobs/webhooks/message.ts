import type { Click } from '../../../events/statistics/click.ts'
import type { Recorded } from '../../../events/event.ts'
import type { Event, LogEvent } from '../../../events/index.ts'
import { parseStreamId } from '../../../events/streams.ts'
import { isUnknown, type UnknownEvent } from '../../../events/unknown.ts'
import { mayPass, type Passes } from './filter.ts'
import type { Definition, Hook, Ref } from './hook.ts'

type Named = { readonly stream: string; readonly type: string }

/** Shows events to the outside, as `GET /api/events` and `GET /api/clicks` do. */
export interface Presenter {
  /**
   * Returns whether the owner of an account may see an event, and whether that needs the scope `account`; `unknown` for
   * an event that only a newer release knows.
   */
  readonly shownTo: (event: Named) => 'read' | 'account' | 'never' | 'unknown'
  readonly event: (event: Recorded<LogEvent>, ordinal: number) => object
  /** Shows one click of a batch. */
  readonly click: (event: Recorded<Event<'LinkClicked'>>, ordinal: number, index: number) => object
}

/** The message for an event, or for a part of its clicks. */
export interface Message {
  readonly id: string
  readonly type: string
  readonly body: string
}

/** Clicks of a batch in one part, counted across accounts, so that the id of a message does not depend on a filter. */
export const clicksInPart = 50
/** maximum bytes of a body; a larger event is sent without its data */
const bodyLimit = 256 * 1024

/** Whether a webhook may send a click: its filter is applied when it is sent. */
export const wantsClick = ({ account, definition }: Pick<Hook, 'account' | 'definition'>, click: Click): boolean =>
  definition !== undefined &&
  click.account === account &&
  (definition.links.size === 0 || definition.links.has(click.link)) &&
  (definition.classes.size === 0 || definition.classes.has(click.class))

/** Events that need the scope `account`, such as those of its keys, must be selected by name. */
const wantsEvent = (
  { all, types, links, filter }: Definition,
  event: Named,
  { shownTo }: Pick<Presenter, 'shownTo'>,
): boolean => {
  const { kind, number } = parseStreamId(event.stream)
  if (links.size > 0 && !(kind === 'link' && links.has(number))) return false
  if (!mayPass(event.stream, filter)) return false
  const needed = shownTo(event)
  return ((needed === 'read' || needed === 'unknown') && all) || (needed !== 'never' && types.has(event.type))
}

/** Returns the type of an event, also of an unreadable one. */
const typeOf = (event: Recorded<LogEvent>): string => (isUnknown(event) ? event.data.type : event.type)

/**
 * Returns the parts of an event that a webhook may send, in order: part 0 of an event, or those with clicks that it
 * wants. Its filter is applied when they are sent.
 */
export const wantedParts = (
  hook: Pick<Hook, 'account' | 'definition'>,
  event: Recorded<LogEvent>,
  presenter: Pick<Presenter, 'shownTo'>,
): readonly number[] => {
  const { definition, account } = hook
  if (!definition) return []
  if (typeOf(event) === 'LinkClicked') {
    if (!definition.clicks) return []
    // the accounts of the clicks cannot be read
    if (event.type !== 'LinkClicked') return [0]
    const wanted = event.data.clicks.flatMap((click, i) =>
      wantsClick(hook, click) ? [Math.floor(i / clicksInPart)] : [],
    )
    return [...new Set(wanted)]
  }
  const named = { stream: event.stream, type: typeOf(event) }
  return event.metadata.account === account && wantsEvent(definition, named, presenter) ? [0] : []
}

const bodyOf = (type: string, at: string, data: object) => JSON.stringify({ type, timestamp: at, data })

/** Returns the indexes of the clicks in a part: from `first` to before `end`. */
export const rangeOf = ({ part }: Pick<Ref, 'part'>) => ({ first: part * clicksInPart, end: (part + 1) * clicksInPart })

const clicksMessage = (
  hook: Pick<Hook, 'account' | 'definition'>,
  event: Recorded<Event<'LinkClicked'>>,
  { ordinal, part }: Ref,
  present: Presenter['click'],
  passes: Passes,
): Message | undefined => {
  const { first, end } = rangeOf({ part })
  const clicks = event.data.clicks
    .slice(first, end)
    .flatMap((click, i) => (wantsClick(hook, click) && passes(first + i) ? [present(event, ordinal, first + i)] : []))
  if (clicks.length === 0) return undefined
  return { id: `evt_${ordinal}_${part}`, type: 'clicks', body: bodyOf('clicks', event.at, { event: ordinal, clicks }) }
}

/**
 * Returns the message for an unreadable event, so that its receiver knows of it. Its id differs from that of the event:
 * a release that can read the event sends it in full, and receivers must not take that for a repetition.
 */
const unreadableMessage = (
  event: Recorded<UnknownEvent>,
  { ordinal }: Pick<Ref, 'ordinal'>,
  presenter: Presenter,
): Message => {
  const { type } = event.data
  const id = `evt_${ordinal}_unreadable`
  if (type === 'LinkClicked')
    return { id, type: 'clicks', body: bodyOf('clicks', event.at, { event: ordinal, clicks: [], unreadable: true }) }
  return { id, type, body: bodyOf(type, event.at, { ...presenter.event(event, ordinal), unreadable: true }) }
}

/** Whether only a newer release can tell if an event may be sent. */
export const isHidden = (event: Recorded<LogEvent>, { shownTo }: Pick<Presenter, 'shownTo'>): boolean =>
  isUnknown(event) && shownTo({ stream: event.stream, type: event.data.type }) === 'unknown'

/** Returns the message at a place of the log; undefined when the webhook no longer wants it. */
export const messageOf = (
  hook: Pick<Hook, 'account' | 'definition'>,
  event: Recorded<LogEvent>,
  ref: Ref,
  presenter: Presenter,
  passes: Passes,
): Message | undefined => {
  if (!wantedParts(hook, event, presenter).includes(ref.part)) return undefined
  if (isUnknown(event)) return passes(0) ? unreadableMessage(event, ref, presenter) : undefined
  if (event.type === 'LinkClicked') return clicksMessage(hook, event, ref, presenter.click, passes)
  if (!passes(0)) return undefined
  const { type, at } = event
  const shown = presenter.event(event, ref.ordinal)
  const body = bodyOf(type, at, shown)
  const isLarge = Buffer.byteLength(body) > bodyLimit
  return {
    id: `evt_${ref.ordinal}`,
    type,
    body: isLarge ? bodyOf(type, at, { ...shown, data: null, truncated: true }) : body,
  }
}

/** Returns a test message for the owner of a webhook. */
export const testMessage = (webhook: number, id: string, now: Date): Message => ({
  id: `test_${id}`,
  type: 'test',
  body: bodyOf('test', now.toISOString(), { webhook }),
})
