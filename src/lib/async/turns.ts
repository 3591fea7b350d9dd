import type { ServerResponse } from 'node:http'

/** A turn of the event loop that was so long that everything else in the process waited for it. */
export interface LongTurn {
  /** ms that a timer was late */
  readonly ms: number
  /** ms of CPU time meanwhile: few when the machine had no time for the process, or the process waited for a disk */
  readonly cpuMs: number
  /** the response of the request whose code took longest; undefined when there was none */
  readonly response: ServerResponse | undefined
}

/** ms of a turn that is too long */
export const longTurnMs = 200
/** ms between two beats */
const interval = 50

// a process has one event loop, so there is one of each of these
/** whose code runs, and since when */
let [running, since]: [ServerResponse | undefined, number] = [undefined, 0]
/** whose code ran longest in one piece since the last beat, and how long */
let [culprit, longest]: [ServerResponse | undefined, number] = [undefined, 0]

const switchTo = (next: ServerResponse | undefined, ran = running) => {
  const now = performance.now()
  if (now - since > longest) {
    longest = now - since
    culprit = ran
  }
  since = now
  running = next
}

/** Notes that code of a request runs from now on. */
export const begins = (response: ServerResponse): void => switchTo(response)
/** Notes that code of a request has run until now: since it began, or since an `await` of it ended. */
export const ran = (response: ServerResponse): void => switchTo(undefined, response)

/** Returns the CPU time of this thread, or of the process where Node cannot tell threads apart: before 22.19. */
const cpuMs = () => {
  const { threadCpuUsage } = process as { readonly threadCpuUsage?: () => NodeJS.CpuUsage }
  const { user, system } = threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}

type OnLong = (turn: LongTurn) => void
const watchers = new Set<{ readonly onLong: OnLong }>()
let timer: NodeJS.Timeout | undefined

const beat = () => {
  let [last, cpu] = [performance.now(), cpuMs()]
  const restart = () => {
    switchTo(undefined)
    ;[culprit, longest] = [undefined, 0]
  }
  restart()
  timer = setInterval(() => {
    switchTo(undefined)
    const [now, used] = [performance.now(), cpuMs()]
    const ms = now - last - interval
    // a turn of many short pieces was that of no request
    const turn = { ms, cpuMs: used - cpu, response: longest > longTurnMs / 2 ? culprit : undefined }
    restart()
    ;[last, cpu] = [now, used]
    if (ms > longTurnMs) for (const { onLong } of watchers) onLong(turn)
  }, interval)
  timer.unref()
}

/**
 * Calls `onLong` after each turn of more than `longTurnMs`, as far as a timer notices: one that is hardly longer may
 * pass. Returns what ends that.
 */
export const watchTurns = (onLong: OnLong): (() => void) => {
  const watcher = { onLong }
  watchers.add(watcher)
  if (watchers.size === 1) beat()
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0) clearInterval(timer)
  }
}
