import { type Link, link } from '../commands/link.ts'
import type { Handler } from '../commands/handle.ts'
import { openProgress, type Progress } from '../projections/progress.ts'
import { accountsChanged } from '../queries/account.ts'
import { findKey } from '../queries/key.ts'
import type { Reader } from '../queries/reader.ts'
import { findTarget, linksChanged, type Target } from '../queries/target.ts'
import { type Auth, openAuth } from './auth.ts'
import { type Late, openLate } from './late.ts'
import { openTargets, type Targets } from './targets.ts'

/** What this process remembers of the read tables, and how it learns that it is no longer true. */
export interface Memory {
  readonly auth: Auth
  readonly targets: Targets
  readonly late: Late
  readonly progress: Progress
  /** Something may have been missed. */
  readonly distrust: () => void
}

export interface MemoryOptions {
  readonly handler: Handler
  readonly reader: Reader
  /** with connections of its own: redirects never wait for one that the API holds */
  readonly redirectReader: Reader
  /** key of the hashes that API keys are kept as */
  readonly pepper: Buffer
  /** the position up to which nothing has been remembered yet */
  readonly start: bigint
  /** notifications are being heard, so nothing can have been missed */
  readonly trusted: () => boolean
  /** The keys of these accounts may have been destroyed. */
  readonly onAccounts: (accounts: readonly number[]) => void
  readonly onProblem: (error: unknown, what: string) => void
}

export const openMemory = ({
  handler,
  reader,
  redirectReader,
  pepper,
  start,
  trusted,
  onAccounts,
  onProblem,
}: MemoryOptions): Memory => {
  const forget = async (after: bigint, upTo: bigint) => {
    try {
      const [links, accounts] = await Promise.all([
        linksChanged(reader, after, upTo),
        accountsChanged(reader, after, upTo),
      ])
      targets.forgetLinks(links)
      if (accounts.length === 0) return
      targets.forgetAccounts(accounts)
      auth.forget(accounts)
      onAccounts(accounts)
    } catch {
      distrust()
    }
  }
  const distrust = () => {
    targets.distrust()
    auth.forgetAll()
  }
  /** A link whose change the tables do not have yet is served as its own stream says. */
  const pin = async (stream: string, position: bigint) => {
    const { state, revision, position: read } = await handler.load(link, stream)
    const id = Number(stream.slice('link-'.length))
    targets.pin(id, position, state.status === 'open' ? targetOf(id, state, Number(revision), read) : undefined)
  }

  const progress = openProgress(start, forget)
  const auth = openAuth(pepper, (key) => findKey(reader, key))
  const targets = openTargets({
    find: (domain, aliasKey) => findTarget(redirectReader, domain, aliasKey),
    trusted,
    seen: progress.seen,
  })
  const late = openLate(progress, (stream, position) => {
    if (stream.startsWith('link-'))
      void pin(stream, position).catch((error: unknown) =>
        onProblem(error, 'a link that the tables are late with could not be read'),
      )
  })
  return { auth, targets, late, progress, distrust }
}

const targetOf = (id: number, { account, fields, password }: Link, revision: number, position: bigint): Target => ({
  ...fields,
  link: id,
  account,
  revision,
  position,
  aliasKey: fields.alias.toLowerCase(),
  password,
  expiry: fields.expiry === null ? null : new Date(fields.expiry),
})
