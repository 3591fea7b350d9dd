import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ordinals } from '../../events/ordinals.ts'
import { Behind } from '../../lib/unavailable.ts'
import type { Format } from './format.ts'
import type { Slot } from './limit.ts'
import { idOf, type StreamPlace } from './place.ts'
import type { Page, Piece, Source } from './source/source.ts'
import type { Follower } from './tail.ts'

export interface StreamOptions {
  readonly source: Source
  readonly format: Format
  readonly ordinals: Ordinals
  /** where the stream begins */
  readonly after: StreamPlace
  /** maximum number of lines */
  readonly limit: number
  /** undefined: the stream ends with the newest event of its beginning */
  readonly follower: Follower | undefined
  readonly slot: Slot
  /** Returns whether the caller may still read: keys are revoked, and accounts erased. */
  readonly isAdmitted: () => Promise<boolean>
  /** ms without a line until the client gets a sign that the connection is alive */
  readonly beat: number
  /** ms that a client has to read a piece, before it counts as stopped */
  readonly timeoutMs: number
  /** Called with the reason that has ended a stream that follows the log. */
  readonly onFailed: (error: unknown) => void
}

/** approximate bytes to make at once: this much stays in memory for a client that does not read */
const pieceBytes = 64 * 1024
/** ms until an event without an ordinal is read again, and until a finite stream gives up */
const [numberingPause, numberingTimeoutMs] = [100, 5000]

/** The caller may no longer read. */
class NoLongerAdmitted extends Error {
  override readonly name = 'NoLongerAdmitted'
}

const makePiece = ({ rows, end }: Page, format: Format, most: number): Piece => {
  let text = ''
  let taken = 0
  for (; taken < rows.length && taken < most && text.length < pieceBytes; taken++) text += format.line(rows[taken]!)
  return { text: Buffer.from(text), rows: taken, end: taken === rows.length ? end : rows[taken - 1]!.place }
}

/** Returns the next lines as a piece, without keeping their page. */
const nextPiece = async (
  { source, format }: StreamOptions,
  after: StreamPlace,
  most: number,
): Promise<Piece | undefined> => {
  const page = await source.next(after)
  if (!page) return undefined
  const { texts } = page
  const key = `${format.name} ${page.rows[0]?.id}`
  const shared = texts?.get(key)
  if (shared && shared.rows <= most) return shared
  const piece = makePiece(page, format, most)
  if (piece.rows < most) texts?.set(key, piece)
  return piece
}

/** Waits until the follower is notified, the stream ends, or `ms` are over. */
const waitForNews = async (follower: Follower, count: number, ms: number, ended: AbortSignal) => {
  const waiting = new AbortController()
  const stop = () => waiting.abort()
  const timer = setTimeout(stop, ms)
  ended.addEventListener('abort', stop)
  if (ended.aborted) stop()
  await follower.changed(count, waiting.signal)
  clearTimeout(timer)
  ended.removeEventListener('abort', stop)
}

/** Returns whether a finite stream is complete: every stored event must get its ordinal first. */
const isComplete = async (source: Source, waitingSince: number): Promise<boolean> => {
  if (!source.isPending()) return true
  if (performance.now() - waitingSince > numberingTimeoutMs) throw new Behind('an event has no ordinal yet')
  await sleep(numberingPause)
  return false
}

const ensureAdmitted = async ({ isAdmitted }: StreamOptions) => {
  if (!(await isAdmitted())) throw new NoLongerAdmitted('the key of the stream is no longer valid')
}

/** The time of the last sign of life, and the place that the client has received. */
interface SignOfLife {
  at: number
  place: StreamPlace
}

const beatOf = async ({ format, ordinals }: StreamOptions, after: StreamPlace, shown: SignOfLife) => {
  const id = after === shown.place ? undefined : await idOf(ordinals, after)
  shown.at = performance.now()
  shown.place = after
  return format.beat(id)
}

const piecesOf = async function* (options: StreamOptions): AsyncGenerator<Buffer | string> {
  const { source, follower, slot, beat } = options
  const shown: SignOfLife = { at: performance.now(), place: options.after }
  let { after, limit: left } = options
  let waitingSince: number | undefined
  while (left > 0 && (!follower || !slot.ended.aborted)) {
    if (!follower) slot.ended.throwIfAborted()
    const count = follower?.count() ?? 0
    const piece = await nextPiece(options, after, left)
    const isDue = () => performance.now() - shown.at >= beat
    if (!piece && !follower) {
      if (await isComplete(source, (waitingSince ??= performance.now()))) return
    } else if (!piece && !isDue())
      await waitForNews(
        follower!,
        count,
        source.isPending() ? numberingPause : beat - (performance.now() - shown.at),
        slot.ended,
      )
    if (piece) {
      after = piece.end
      left -= piece.rows
      waitingSince = undefined
    }
    if (piece && piece.rows > 0) {
      await ensureAdmitted(options)
      yield piece.text
      shown.at = performance.now()
      shown.place = after
    } else if (isDue()) {
      await ensureAdmitted(options)
      yield await beatOf(options, after, shown)
    }
  }
}

/**
 * A stream that follows the log ends like any answer, with a hint to reconnect; a finite one fails instead, so that a
 * part is not taken for the whole.
 */
const linesOf = async function* (options: StreamOptions): AsyncGenerator<Buffer | string> {
  const { format, ordinals, after, follower, onFailed } = options
  yield format.head(await idOf(ordinals, after))
  try {
    yield* piecesOf(options)
  } catch (error) {
    if (!follower) throw error
    if (!(error instanceof NoLongerAdmitted)) onFailed(error)
  }
  if (follower) yield format.end()
}

/**
 * Returns a stream that makes its lines as fast as they are read: a client that stops reading stops the reading of the
 * log. It releases its resources once it is complete, failed or destroyed.
 */
export const streamOf = (options: StreamOptions): Readable => {
  const { follower, slot, timeoutMs } = options
  let unread: NodeJS.Timeout | undefined
  const lines = linesOf(options)
  const free = () => {
    clearTimeout(unread)
    follower?.leave()
    slot.end()
  }
  const readNext = async (stream: Readable) => {
    for (;;) {
      const { done, value } = await lines.next()
      // a timer that is not cleared would keep the process running
      if (stream.destroyed) return
      if (done) return void stream.push(null)
      if (value.length === 0) continue
      unread = setTimeout(() => stream.destroy(), timeoutMs)
      return void stream.push(value)
    }
  }
  return new Readable({
    highWaterMark: pieceBytes,
    // called when there is room for more, because the client has read
    read() {
      clearTimeout(unread)
      void readNext(this).catch((error: unknown) => this.destroy(error as Error))
    },
    destroy(error, callback) {
      free()
      void lines.return(undefined).catch(() => {})
      callback(error)
    },
  })
}
