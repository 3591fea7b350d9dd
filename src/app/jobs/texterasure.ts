import { isRefused } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { report } from '../../commands/operator/report.ts'
import { answer } from '../../commands/pages/answer.ts'
import { systemMetadata } from '../../events/event.ts'
import { streamId } from '../../events/streams.ts'
import { NotReady } from '../../lib/unavailable.ts'
import { monthsBefore } from '../../lib/zone.ts'
import { erasedReports, reportsClosedBefore } from '../../queries/operator/report.ts'
import { answersBefore, erasedAnswers } from '../../queries/pages/answer.ts'
import type { Reader } from '../../queries/reader.ts'
import type { StreamKeyring } from '../../security/streamkeys.ts'
import { repeat, unwatched, type Watching } from './repeat.ts'

export interface TextErasureOptions {
  readonly reader: Reader
  readonly handler: Pick<Handler, 'handle'>
  readonly keys: Pick<StreamKeyring, 'destroy'>
  /** months that answers and closed reports are kept; undefined: for good */
  readonly keptMonths: number | undefined
  readonly onProblem: (error: unknown, what: string) => void
  /** Returns the time, or rejects while it may be wrong. */
  readonly sureNow?: () => Promise<Date>
  readonly watching?: Watching
}

/** ms between runs */
const every = 60_000
/** answers, and reports, in one run */
const perRun = 500

/** The tables may not have an erasure yet, and another process may do the same. */
const unlessErased = async (work: Promise<unknown>) => {
  try {
    await work
  } catch (error) {
    if (!isRefused(error, 'not_found')) throw error
  }
}

const eraseOld = async ({ reader, handler, keys, sureNow }: TextErasureOptions, before: Date) => {
  const answers = await answersBefore(reader, before, perRun)
  const reports = await reportsClosedBefore(reader, before, perRun)
  if (answers.length + reports.length > 0) await sureNow?.()
  for (const one of answers) {
    await unlessErased(handler.handle(answer, { type: 'EraseAnswer', ...one }, systemMetadata(one.account)))
    await keys.destroy([streamId('answer', one.answer)])
  }
  for (const id of reports) {
    await unlessErased(handler.handle(report, { type: 'EraseReport', id }, systemMetadata()))
    await keys.destroy([streamId('report', id)])
  }
}

/**
 * Erases what visitors entered longer ago than it is kept, and destroys the keys of what is erased: a process may have
 * been killed between the two.
 */
export const eraseTexts = async (options: TextErasureOptions, now = new Date()): Promise<void> => {
  const { reader, keys, keptMonths } = options
  if (keptMonths !== undefined) await eraseOld(options, monthsBefore(now, keptMonths))
  await keys.destroy((await erasedAnswers(reader, perRun)).map((id) => streamId('answer', id)))
  await keys.destroy((await erasedReports(reader, perRun)).map((id) => streamId('report', id)))
}

/** Starts to do so, now and every minute. Returns a function that stops it. */
export const startTextErasure = (options: TextErasureOptions) => {
  const onError = (error: unknown) => {
    if (!(error instanceof NotReady)) options.onProblem(error, 'old answers and reports could not be erased')
  }
  const run = (options.watching ?? unwatched)(() => eraseTexts(options))
  const first = run().catch(onError)
  const stop = repeat(run, every, onError)
  return async () => {
    await first
    await stop()
  }
}
