import type { Limiter } from '../api/limiter.ts'

const seconds = 600
/** Wrong passwords in ten minutes: of one address at one link, of one address at all links, and of all addresses at one link. */
const budgets = (link: number, block: string) => [
  { key: `password ${link} ${block}`, limit: 10 },
  { key: `password * ${block}`, limit: 50 },
  { key: `password ${link}`, limit: 100 },
]

export interface Guess {
  /** seconds until the next guess is allowed, undefined when this one is */
  readonly wait: number | undefined
  /** Takes the guess back: it was right, or was not checked. */
  readonly takeBack: () => Promise<void>
}

/** Counts a password before it is checked, so that parallel guesses do not exceed a budget. A guess that is not allowed is taken back. */
export const countGuess = async (limiter: Limiter, link: number, block: string): Promise<Guess> => {
  const all = budgets(link, block)
  const takeBack = async () => void (await Promise.all(all.map(({ key }) => limiter.uncount(key))))
  const counted = await Promise.all(all.map(({ key, limit }) => limiter.count(key, limit, seconds)))
  const over = counted.filter((one) => one.over)
  if (over.length === 0) return { wait: undefined, takeBack }
  await takeBack()
  return { wait: Math.max(...over.map(({ wait }) => wait)), takeBack }
}
