import type { History, HistoryEvent } from './answers.ts'
import { get } from './api.ts'
import type { Past } from './moments.ts'
import { afterEvent, now, past, whenAt } from './past.ts'
import { go } from './router.ts'
import { moment, stamp } from './time.ts'

/** Goes to a time; times that are over by less than a step are now. */
export const goTo = (time: Date, { replace = past.value !== undefined } = {}) =>
  go(time.getTime() >= Date.now() - 1000 ? now() : whenAt(time), { replace })

/** how many changes of a moment are looked at */
const most = '100'

const changesNear = async (subject: string, query: Readonly<Record<string, string>>) =>
  (
    await get<History>(
      `${subject}/history?${new URLSearchParams({ limit: most, fields: 'event,time', ...query }).toString()}`,
    )
  ).data.events

/** Whether a change was made by the moment that is shown. */
const isDone = ({ event, time }: Pick<HistoryEvent, 'event' | 'time'>, shown: Past) => {
  const [, last] = /^event:(\d+)$/.exec(shown.at) ?? []
  return last === undefined ? moment(time) <= shown.time : event !== null && event <= Number(last)
}

const goAfter = ({ event, time }: Pick<HistoryEvent, 'event' | 'time'>) =>
  go(event === null ? whenAt(moment(time)) : afterEvent(event, moment(time)), { replace: past.value !== undefined })

/** Goes to the state before the newest change that is shown: right after the one before it. */
export const toPrevious = async (subject: string) => {
  const shown = past.value
  const upTo = shown ? { to: stamp(new Date(shown.time.getTime() + 1000)) } : {}
  const events = await changesNear(subject, upTo)
  const [newest, before] = shown ? events.filter((one) => isDone(one, shown)) : events
  if (before) goAfter(before)
  else if (newest) goTo(new Date(moment(newest.time).getTime() - 1000))
}

/** Goes to the state after the next change. */
export const toNext = async (subject: string) => {
  const shown = past.value
  if (!shown) return
  const events = await changesNear(subject, { order: 'oldest', from: stamp(shown.time) })
  const next = events.find((one) => !isDone(one, shown))
  if (next) goAfter(next)
  else go(now(), { replace: true })
}
