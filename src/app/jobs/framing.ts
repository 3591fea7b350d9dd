import pLimit from 'p-limit'
import { NotReady } from '../../lib/unavailable.ts'
import { account as accounts } from '../../commands/accounts/account.ts'
import type { Handler } from '../../commands/handle.ts'
import { destinationsOf, isFramed, link } from '../../commands/links/link.ts'
import { systemMetadata } from '../../events/event.ts'
import { addFramedLinks, claimDueLinks, makeDue, setNextCheck } from '../../queries/links/framecheck.ts'
import type { Reader } from '../../queries/reader.ts'
import type { FrameProbe, Verdict } from './frameprobe.ts'
import { repeat, unwatched, type Watching } from './repeat.ts'

export interface FrameCheckOptions {
  readonly reader: Reader
  readonly handler: Handler
  readonly probe: FrameProbe
  /** Returns the origin at which links with this domain (null: the service's own) are visited. */
  readonly originOf: (domain: number | null) => string
  readonly onProblem: (error: unknown, what: string) => void
  readonly watching?: Watching
  /** Ends a run: the destinations that are left are asked in a later one. */
  readonly signal?: AbortSignal | undefined
}

export interface FrameChecks {
  /**
   * Has the destinations of a link asked soon. Returns at once: a request does not wait for it, and does not fail with
   * it.
   */
  readonly checkSoon: (link: number) => void
  readonly close: () => Promise<void>
}

/** links in one run, of which so many are checked at a time */
const [perRun, atOnce] = [20, 4]
/** ms that the destinations of one link may take in one run */
const timeoutMs = 30_000
/** ms between runs; a write does not wait for the next one */
const every = 10_000
/** ms between searches for links that no check is planned for */
const anHour = 3_600_000

/** So that, with more destinations than can be asked at once, each has its turn. */
const shuffled = <T>(values: readonly T[]) =>
  values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value)

/**
 * Asks the destinations of a link whether they can be framed, and records what has changed. Returns false when some are
 * left, undefined for a link that is not served in a frame.
 */
const checkLink = async (
  { handler, probe, originOf, signal }: Pick<FrameCheckOptions, 'handler' | 'probe' | 'originOf' | 'signal'>,
  id: number,
): Promise<boolean | undefined> => {
  const { status, account, fields } = (await handler.load(link, id)).state
  if (status !== 'open' || !isFramed(fields.type)) return undefined
  if ((await handler.load(accounts, account)).state.status !== 'active') return undefined
  const [embedder, until] = [originOf(fields.domain), performance.now() + timeoutMs]
  const verdicts: { readonly url: string; readonly verdict: Verdict }[] = []
  for (const url of shuffled(destinationsOf(fields)))
    verdicts.push({ url, verdict: performance.now() < until ? await probe(url, embedder, signal) : 'later' })
  const answers = verdicts.flatMap(({ url, verdict }) =>
    verdict === 'unknown' || verdict === 'later' ? [] : [{ url, reason: verdict }],
  )
  const now = new Date().toISOString()
  await handler.handle(link, { type: 'CheckFraming', id, answers, now }, systemMetadata(account))
  return verdicts.every(({ verdict }) => verdict !== 'later')
}

/** Checks the links that are due, up to twenty. */
export const checkFrames = async (options: FrameCheckOptions): Promise<void> => {
  const { reader, onProblem, signal } = options
  const limit = pLimit(atOnce)
  const check = async (id: number) => {
    if (signal?.aborted) return
    try {
      await setNextCheck(reader, id, await checkLink(options, id))
    } catch (error) {
      // the other links are checked all the same
      onProblem(error, `link ${id} could not be checked for frames`)
    }
  }
  const due = await claimDueLinks(reader, perRun)
  await Promise.all(due.map((id) => limit(() => check(id))))
}

export const noFrameChecks: FrameChecks = { checkSoon: () => {}, close: () => Promise.resolve() }

/** Starts the checks: of links that are written at once, of all others once a day. */
export const startFrameChecks = (options: Omit<FrameCheckOptions, 'signal'>): FrameChecks => {
  const { reader, onProblem } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let planned = false
  let running: Promise<unknown> = Promise.resolve()
  const check = (options.watching ?? unwatched)(() => checkFrames({ ...options, signal }))
  const run = () => {
    if (planned || signal.aborted) return
    planned = true
    running = running
      .then(() => {
        planned = false
        return signal.aborted ? undefined : check()
      })
      .catch((error: unknown) => onProblem(error, 'the checks of framed links failed'))
  }
  const add = () => addFramedLinks(reader)
  const onAddProblem = (error: unknown) => {
    // at the first start the tables are still being filled; they are listed an hour later
    if (!(error instanceof NotReady)) onProblem(error, 'framed links could not be listed')
  }
  void add().catch(onAddProblem)
  const stopAdding = repeat(add, anHour, onAddProblem)
  const timer = setInterval(run, every)

  return {
    checkSoon: (id) =>
      void makeDue(reader, id)
        .then(run)
        .catch((error: unknown) => onProblem(error, `link ${id} could not be marked for a check of its frame`)),
    close: async () => {
      stopping.abort()
      clearInterval(timer)
      await stopAdding()
      await running
    },
  }
}
