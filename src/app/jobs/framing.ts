import pLimit from 'p-limit'
import { NotReady } from '../../lib/unavailable.ts'
import { account as accounts } from '../../commands/accounts/account.ts'
import type { Handler } from '../../commands/handle.ts'
import { destinationsOf, isFramed, link } from '../../commands/links/link.ts'
import { domainsOf } from '../../commands/links/places.ts'
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
  /** Returns the origin of links with this domain (null: the service's own). */
  readonly originOf: (domain: number | null) => string
  readonly onProblem: (error: unknown, what: string) => void
  readonly watching?: Watching
  /** Ends a run: a later one checks the remaining destinations. */
  readonly signal?: AbortSignal | undefined
}

export interface FrameChecks {
  /**
   * Has the destinations of a link checked soon. Returns at once: a request does not wait for the check or fail with
   * it.
   */
  readonly checkSoon: (link: FramedLink) => void
  readonly close: () => Promise<void>
}

/** links in one run, the maximum of one account, and checks at a time */
const [perRun, ofEach, atOnce] = [20, 4, 4]
/** ms that the destinations of one link may take in one run */
const timeoutMs = 30_000
/** ms between runs, and after a run that has checked some; a write does not wait for the next one */
const [every, pause] = [10_000, 1000]
/** ms between searches for links without a planned check */
const anHour = 3_600_000

/** Gives each destination a chance when there are more than can be checked at once. */
const shuffled = <T>(values: readonly T[]) =>
  values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value)

/**
 * The account of a checked link, and whether all its destinations were checked; undefined for a link without a frame.
 */
interface Checked {
  readonly account: number
  readonly complete: boolean | undefined
}

/** Checks whether the destinations of a link can be framed, and records changes. */
const checkLink = async (
  { handler, probe, originOf, signal }: Pick<FrameCheckOptions, 'handler' | 'probe' | 'originOf' | 'signal'>,
  id: number,
): Promise<Checked> => {
  const { state } = await handler.load(link, id)
  const { status, account, fields } = state
  const none = { account, complete: undefined }
  if (status !== 'open' || !isFramed(fields.type)) return none
  if ((await handler.load(accounts, account)).state.status !== 'active') return none
  const [embedders, until] = [domainsOf(state).map((domain) => originOf(domain || null)), performance.now() + timeoutMs]
  /** Asks for each address of the link, until one may not have the frame. */
  const verdictOn = async (url: string) => {
    let verdict: Verdict = null
    for (const embedder of embedders)
      verdict ??= performance.now() < until ? await probe(url, embedder, signal) : 'later'
    return verdict
  }
  const verdicts: { readonly url: string; readonly verdict: Verdict }[] = []
  for (const url of shuffled(destinationsOf(fields))) verdicts.push({ url, verdict: await verdictOn(url) })
  const answers = verdicts.flatMap(({ url, verdict }) =>
    verdict === 'unknown' || verdict === 'later' ? [] : [{ url, reason: verdict }],
  )
  const now = new Date().toISOString()
  await handler.handle(link, { type: 'CheckFraming', id, answers, now }, systemMetadata(account))
  return { account, complete: verdicts.every(({ verdict }) => verdict !== 'later') }
}

/** Checks due links, up to twenty, and four of an account. Returns their number. */
export const checkFrames = async (options: FrameCheckOptions): Promise<number> => {
  const { reader, onProblem, signal } = options
  const limit = pLimit(atOnce)
  const check = async (id: number) => {
    if (signal?.aborted) return
    try {
      await setNextCheck(reader, id, await checkLink(options, id))
    } catch (error) {
      // continue with the other links
      onProblem(error, `link ${id} could not be checked for frames`)
    }
  }
  const due = await claimDueLinks(reader, perRun, ofEach)
  await Promise.all(due.map((id) => limit(() => check(id))))
  return due.length
}

export const noFrameChecks: FrameChecks = { checkSoon: () => {}, close: () => Promise.resolve() }

/** Starts the checks: of changed links at once, of all others once a day. */
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
    // at the first start the tables are still being filled; the next search is an hour later
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
