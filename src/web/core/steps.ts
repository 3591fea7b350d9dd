import type { HistoryEntry, HistoryEntryList } from '../../http/history/contract/history.ts'
import { get } from './api.ts'
import type { Past } from './moments.ts'
import { afterEvent, now, past, whenAt } from './past.ts'
import { go } from './router.ts'
import { moment, stamp } from './time.ts'

/** Goes to a time; times that are over by less than a step are now. */
export const goTo = (time: Date, { replace = past.value !== undefined } = {}) =>
  go(time.getTime() >= Date.now() - 1000 ? now() : whenAt(time), { replace })

/** The event and the time of a change, as the API returns them. */
export type Change = Pick<HistoryEntry, 'event' | 'time'>

/** how many changes of a moment are looked at */
const most = '100'

const changesNear = async (subject: string, query: Readonly<Record<string, string>>) =>
  (
    await get<HistoryEntryList>(
      `${subject}/history?${new URLSearchParams({ limit: most, fields: 'event,time', ...query }).toString()}`,
    )
  ).data.events

/** Whether a change was made by the moment that is shown. */
const isDone = ({ event, time }: Change, shown: Past) => {
  const [, last] = /^event:(\d+)$/.exec(shown.at) ?? []
  return last === undefined ? moment(time) <= shown.time : event !== null && event <= Number(last)
}

const goAfter = ({ event, time }: Change) =>
  go(event === null ? whenAt(moment(time)) : afterEvent(event, moment(time)), { replace: past.value !== undefined })

/**
 * Goes to the state before the newest change that is shown: right after the one before it. `known` are the newest
 * changes that the screen knows, without gaps, so only those before all of them have to be asked for.
 */
export const toPrevious = async (subject: string, known: readonly Change[]) => {
  const shown = past.value
  const doneIn = (events: readonly Change[]) => (shown ? events.filter((one) => isDone(one, shown)) : events)
  const upTo = shown ? { to: stamp(new Date(shown.time.getTime() + 1000)) } : {}
  const done = doneIn(known)
  const [newest, before] =
    done.length > 1 && done.length < known.length ? done : doneIn(await changesNear(subject, upTo))
  if (before) goAfter(before)
  else if (newest) goTo(new Date(moment(newest.time).getTime() - 1000))
}

/**
 * Goes to the state after the next change. `known` has it when it also has one that is shown, because it has no gaps.
 */
export const toNext = async (subject: string, known: readonly Change[]) => {
  const shown = past.value
  if (!shown) return
  const isNext = (one: Change) => !isDone(one, shown)
  const later = known.some((one) => isDone(one, shown)) ? known.findLast(isNext) : undefined
  const next =
    later ?? (await changesNear(subject, { order: 'oldest', from: stamp(shown.time) })).find((one) => isNext(one))
  if (next) goAfter(next)
  else go(now(), { replace: true })
}
