import type { Click } from '../../../events/statistics/click.ts'
import type { Recorded } from '../../../events/event.ts'
import type { LogEvent } from '../../../events/index.ts'
import { type Subject, subjectOf, visitedItems } from '../../../events/subject.ts'
import type { Definition } from './hook.ts'
import type { Filter, Memberships } from './memberships.ts'

/** Whether what an event is about has to be in anything. */
export const isFiltered = ({ campaigns, channels, domains, tags }: Filter): boolean =>
  campaigns.size + channels.size + domains.size + tags.size > 0

/** Whether an event is about a campaign, channel or domain itself, and that is all that a filter names. */
const isNamed = ({ campaign, channel, domain }: Subject, { campaigns, channels, domains, tags }: Filter) => {
  const about = [
    [campaigns, campaign],
    [channels, channel],
    [domains, domain],
  ] as const
  return tags.size === 0 && about.every(([wanted, id]) => wanted.size === 0 || (id !== undefined && wanted.has(id)))
}

/** Whether the events of a stream may pass a filter: those about anything else never do. */
export const mayPass = (stream: string, filter: Filter): boolean => {
  if (!isFiltered(filter)) return true
  const subject = subjectOf(stream)
  return subject.items.length > 0 || isNamed(subject, filter)
}

/** Says whether an event passes, or a click of it by its index. */
export type Passes = (index: number) => boolean

const always: Passes = () => true

const somePass = async (
  { has }: Pick<Memberships, 'has'>,
  filter: Filter,
  items: Subject['items'],
  moments: readonly Parameters<Memberships['has']>[2][],
) => {
  for (const item of items) for (const moment of moments) if (await has(filter, item, moment)) return true
  return false
}

/**
 * Returns which of an event, or of some of its clicks, passes the filter of a webhook. An event that takes a link out
 * of a campaign is about the campaign, too, so what was before the event counts like what is after it.
 */
export const passing = async (
  memberships: Pick<Memberships, 'has'>,
  { filter, links }: Pick<Definition, 'filter' | 'links'>,
  event: Recorded<LogEvent>,
  wants: (click: Click) => boolean,
  { first, end }: { readonly first: number; readonly end: number },
): Promise<Passes> => {
  if (!isFiltered(filter)) return always
  const { position, stream } = event
  const now = { position, isAfter: true }
  if (event.type !== 'LinkClicked') {
    const subject = subjectOf(stream)
    const before = { position, isAfter: false }
    // whose clicks they are cannot be read
    if (event.type === 'Unknown' && event.data.type === 'LinkClicked') return always
    if (links.size === 0 && isNamed(subject, filter)) return always
    const passes = await somePass(memberships, filter, subject.items, [now, before])
    return () => passes
  }
  const passes = await Promise.all(
    event.data.clicks
      .slice(first, end)
      .map(async (click) => wants(click) && somePass(memberships, filter, visitedItems(click), [now])),
  )
  return (index) => passes[index - first] === true
}
