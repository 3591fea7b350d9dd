import pLimit from 'p-limit'
import { NotReady } from '../../lib/unavailable.ts'
import { account as accounts } from '../../commands/accounts/account.ts'
import type { Handler } from '../../commands/handle.ts'
import { destinationsOf, isFramed, link } from '../../commands/links/link.ts'
import { systemMetadata } from '../../events/event.ts'
import {
  addFramedLinks,
  claimDueLinks,
  type FramedLink,
  makeDue,
  setNextCheck,
} from '../../queries/links/framecheck.ts'
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
  readonly checkSoon: (link: FramedLink) => void
  readonly close: () => Promise<void>
}

/** links in one run, of which so many are one account's, and so many are checked at a time */
const [perRun, ofEach, atOnce] = [20, 4, 4]
/** ms that the destinations of one link may take in one run */
const timeoutMs = 30_000
/** ms between runs, and after one that has checked some; a write does not wait for the next one */
const [every, pause] = [10_000, 1000]
/** ms between searches for links that no check is planned for */
const anHour = 3_600_000

/** So that, with more destinations than can be asked at once, each has its turn. */
const shuffled = <T>(values: readonly T[]) =>
  values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value)

/** Whose link was checked, and whether all of it was; undefined for one that is not served in a frame. */
interface Checked {
  readonly account: number
  readonly complete: boolean | undefined
}

/** Asks the destinations of a link whether they can be framed, and records what has changed. */
const checkLink = async (
  { handler, probe, originOf, signal }: Pick<FrameCheckOptions, 'handler' | 'probe' | 'originOf' | 'signal'>,
  id: number,
): Promise<Checked> => {
  const { status, account, fields } = (await handler.load(link, id)).state
  const none = { account, complete: undefined }
  if (status !== 'open' || !isFramed(fields.type)) return none
  if ((await handler.load(accounts, account)).state.status !== 'active') return none
  const [embedder, until] = [originOf(fields.domain), performance.now() + timeoutMs]
  const verdicts: { readonly url: string; readonly verdict: Verdict }[] = []
  for (const url of shuffled(destinationsOf(fields)))
    verdicts.push({ url, verdict: performance.now() < until ? await probe(url, embedder, signal) : 'later' })
  const answers = verdicts.flatMap(({ url, verdict }) =>
    verdict === 'unknown' || verdict === 'later' ? [] : [{ url, reason: verdict }],
  )
  const now = new Date().toISOString()
  await handler.handle(link, { type: 'CheckFraming', id, answers, now }, systemMetadata(account))
  return { account, complete: verdicts.every(({ verdict }) => verdict !== 'later') }
}

/** Checks links that are due, up to twenty, and four of an account. Returns how many these were. */
export const checkFrames = async (options: FrameCheckOptions): Promise<number> => {
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
  const due = await claimDueLinks(reader, perRun, ofEach)
  await Promise.all(due.map((id) => limit(() => check(id))))
  return due.length
}

export const noFrameChecks: FrameChecks = { checkSoon: () => {}, close: () => Promise.resolve() }

/** Starts the checks: of links that are written at once, of all others once a day. */
export const startFrameChecks = (options: Omit<FrameCheckOptions, 'signal'>): FrameChecks => {
  const { reader, onProblem } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let planned = false
  let [checked, waited] = [0, 0]
  let running: Promise<unknown> = Promise.resolve()
  const check = (options.watching ?? unwatched)(() => checkFrames({ ...options, signal }))
  const run = () => {
    if (planned || signal.aborted) return
    planned = true
    running = running
      .then(async () => {
        planned = false
        checked = 0
        if (!signal.aborted) checked = await check()
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
  const timer = setInterval(() => {
    waited += pause
    if (checked === 0 && waited < every) return
    waited = 0
    run()
  }, pause)

  return {
    checkSoon: (framed) =>
      void makeDue(reader, framed)
        .then(run)
        .catch((error: unknown) => onProblem(error, `link ${framed.id} could not be marked for a check of its frame`)),
    close: async () => {
      stopping.abort()
      clearInterval(timer)
      await stopAdding()
      await running
    },
  }
}
