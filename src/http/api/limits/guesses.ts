import { addressSite } from '../../../lib/address.ts'
import type { RateCount, Limiter } from './limiter.ts'

const seconds = 600
/** What a password belongs to: a link, or an account. A code is its second factor; a recovery code replaces one. */
type Kind = 'password' | 'account password' | 'code' | 'recovery code'
const sitesOf = (block: string) => [addressSite(block)].filter((site) => site !== block)
/**
 * Guesses in total at one link or account. A code has only six digits, and an attacker who guesses it already knows the
 * password. A recovery code has 49 bits: it cannot be guessed, and the limit must not keep the owner from using one.
 */
const allOf = (kind: Kind) => (kind === 'code' ? 20 : kind === 'recovery code' ? 10_000 : 100)
/**
 * Wrong passwords in ten minutes: of one address at one link, of one address at all links, the same of an IPv6 site,
 * and of all addresses at one link. A holder of something of the account has a separate budget, which neither strangers
 * nor other kinds of holders can use up. Each sign-in can create such a browser, and a key can create further keys, so
 * all holders of a kind in an account also share a budget.
 */
const budgets = (kind: Kind, { link, block, holder }: Pick<GuessedPassword, 'link' | 'block' | 'holder'>) => {
  if (holder !== undefined)
    return [
      { key: `${kind} of ${holder.kind} ${holder.id}`, limit: 10 },
      { key: `${kind} of ${holder.kind}s ${link}`, limit: allOf(kind) },
    ]
  return strangers(kind, link, block)
}
const strangers = (kind: Kind, link: number | string, block: string) => [
  { key: `${kind} ${link} ${block}`, limit: 10 },
  ...sitesOf(block).flatMap((site) => [
    { key: `${kind} ${link} ${site}`, limit: 20 },
    { key: `${kind} * ${site}`, limit: 100 },
  ]),
  { key: `${kind} * ${block}`, limit: 50 },
  { key: `${kind} ${link}`, limit: allOf(kind) },
]

/**
 * Something of the account that the caller of a guess holds: a browser that has signed in before, a session, a key, or
 * a mailed link.
 */
export interface GuessHolder {
  readonly kind: 'browser' | 'session' | 'key' | 'link'
  readonly id: string
}

export interface GuessedPassword {
  /** the link or account of the password */
  readonly link: number | string
  readonly block: string
  readonly password: string
  readonly holder?: GuessHolder | undefined
}

export interface Guess {
  /** seconds until the next guess is allowed, undefined when this one is */
  readonly wait: number | undefined
  /** Ends the guess. Uncounts one that was right, or was not checked. */
  readonly end: (wasWrong: boolean) => Promise<void>
}

/** The count of one budget, shared by all current guesses of the same password. */
interface Shared {
  readonly counted: Promise<RateCount>
  guesses: number
  wrong: boolean
}

/**
 * Counts each password before it is checked, so that parallel guesses do not exceed a budget. Concurrent guesses of the
 * same password count once: a class behind one address may open a link together with the right one. Uncounts a guess
 * that is not allowed.
 */
export const openGuesses = (limiter: Limiter, kind: Kind = 'password') => {
  const open = new Map<string, Shared>()

  const share = (
    { key, limit }: { readonly key: string; readonly limit: number },
    { link, password }: GuessedPassword,
  ) => {
    // only a password may have a line break
    const name = `${key}\n${link}\n${password}`
    const shared = open.get(name) ?? { counted: limiter.count(key, limit, seconds), guesses: 0, wrong: false }
    open.set(name, shared)
    shared.guesses++
    const end = async (wasWrong: boolean) => {
      shared.wrong ||= wasWrong
      if (--shared.guesses > 0) return
      open.delete(name)
      if (!shared.wrong) await limiter.uncount(key)
    }
    return { counted: shared.counted, end }
  }

  return async (guessed: GuessedPassword): Promise<Guess> => {
    const all = budgets(kind, guessed).map((budget) => share(budget, guessed))
    const end: Guess['end'] = async (wasWrong) => void (await Promise.all(all.map((one) => one.end(wasWrong))))
    const counted = await Promise.all(all.map((one) => one.counted)).catch(async (error: unknown) => {
      // it is unknown what was counted
      await end(true)
      throw error
    })
    const over = counted.filter((one) => one.over)
    if (over.length === 0) return { wait: undefined, end }
    await end(false)
    return { wait: Math.max(...over.map(({ wait }) => wait)), end: async () => {} }
  }
}
