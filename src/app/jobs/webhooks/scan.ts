import { setTimeout as sleep } from 'node:timers/promises'
import { createSignal } from '../../../lib/async/signal.ts'
import { fewRefs, type Hook, isReplayRead, mostRefs } from './hook.ts'
import { concernedIn, give, positionBefore, readSome } from './read.ts'
import type { TailOptions } from './tail.ts'

/** Whether more of the log can be read for a webhook that is not at its end. */
const isBehind = (hook: Hook) =>
  hook.definition !== undefined && !hook.attached && hook.refs.length <= fewRefs && !isReplayRead(hook)

/** Finds out where reading for a webhook begins. */
const findStart = async (options: TailOptions, hook: Hook): Promise<void> => {
  if (hook.scanned !== undefined) return
  const { starts, resume, replay } = hook
  const end = replay && (hook.end ?? (await positionBefore(options, replay.until)))
  const found = await positionBefore(options, resume.ordinal)
  // it may have begun again meanwhile
  if (hook.starts !== starts || hook.resume !== resume) return
  hook.scanned = found
  hook.end = end
  if (isReplayRead(hook)) options.onGiven(hook)
}

/** Reads some more of the log for a webhook, and for all others that are at the same place. */
const scanFor = async (options: TailOptions, hook: Hook, signal: AbortSignal): Promise<void> => {
  const { registry, tail, memberships, presenter, onGiven } = options
  const from = hook.scanned
  if (from === undefined) return
  // the part that a replay ends with is in the log, whether the tail has come to it or not
  const reached = hook.replay ? (hook.end ?? tail.position) : tail.position
  if (from >= reached) {
    hook.attached = !hook.replay
    return
  }
  const withClicks = hook.definition?.clicks ?? false
  const part = { after: from, until: reached, filter: withClicks ? ('all' as const) : ('domain' as const) }
  const read = await readSome(options, part, signal)
  const events = read.filter(({ position }) => position <= reached)
  const last = events.length < read.length ? reached : (events.at(-1)?.position ?? reached)
  // what the tail has not come to yet is new for everybody
  const isSeen = last <= tail.position
  for (const event of events) if (event.position > tail.position) memberships.changed(event)
  const isHere = (other: Hook) =>
    isBehind(other) &&
    other.scanned !== undefined &&
    (withClicks || !other.definition?.clicks) &&
    (other === hook || (isSeen && other.scanned >= from && other.scanned < last))
  const here = new Set([...registry.all()].filter(isHere))
  const concerned = await concernedIn(
    options,
    events,
    (event) => registry.concerned(event).filter((one) => here.has(one)),
    signal,
  )
  // nothing is waited for from here on. One that has begun again meanwhile, or stopped, is left alone.
  const reading = [...here].filter(isHere)
  const open = new Set(reading)
  for (const { hooks, ...given } of concerned)
    for (const one of hooks) {
      if (!open.has(one) || given.event.position <= one.scanned!) continue
      give(one, given, presenter)
      if (one.refs.length <= mostRefs) continue
      one.scanned = given.event.position
      open.delete(one)
    }
  for (const one of open) {
    if (one.scanned! < last) one.scanned = last
    one.attached = !one.replay && one.scanned! >= tail.position
  }
  reading.forEach(onGiven)
}

/**
 * Reads the log for webhooks that are not at its end: each in its turn, so that none has to wait for one that is far
 * behind.
 */
export const createScanner = (options: TailOptions) => {
  const signals = createSignal()
  return {
    /** There may be a webhook to read for. */
    wake: () => signals.notify(),
    scan: async (signal: AbortSignal): Promise<void> => {
      let turn = 0
      while (!signal.aborted) {
        const known = signals.count()
        const behind = [...options.registry.all()].filter(isBehind)
        // all of them, so that one read serves those that are at the same place
        for (const hook of behind) await findStart(options, hook)
        const next = behind.find(({ id }) => id > turn) ?? behind[0]
        if (!next) await signals.after(known, signal)
        else {
          turn = next.id
          const begun = performance.now()
          await scanFor(options, next, signal)
          // half of the time at most: replays are cheap to ask for, and what they read is decoded where requests are
          // answered
          await sleep(performance.now() - begun, undefined, { signal }).catch(() => {})
        }
      }
    },
  }
}
