import { findBotMatch } from 'isbot'
import { type Agent, typedWords } from './agent.ts'
import { previewers } from './previewers.ts'

/** What a click keeps of the rules that classified it. */
export interface Classification {
  /** words of the user agent */
  readonly agent: string
  /** the previewer's name, or the word that a rule matched */
  readonly bot: string | null
  readonly class: string
}

/**
 * Whether a rule for bots matches a word. Other rules ask for the form of a whole user agent, which words alone do not
 * have: they are put where browsers have them, and what such a rule matches is no word.
 */
const hasBot = (agent: string): boolean => {
  const match = findBotMatch(`Mozilla/5.0 (${agent}) Gecko/20100101`)
  const [piece] = /[a-z]+(?:[-_][a-z]+)*/i.exec(match ?? '') ?? []
  return piece !== undefined && agent.toLowerCase().includes(piece.toLowerCase())
}

/**
 * Returns the class of a click by the rules of now, as far as its words allow. A class stays where the words do not
 * show what decided: versions, addresses and marks are not among them.
 */
export const classOfWords = ({ agent, bot, class: before }: Classification): string => {
  if (before === 'prefetch' || agent === '' || typedWords.has(agent)) return before
  if (before === 'preview' && previewers.some(([name]) => name === bot)) return before
  if (previewers.some(([, pattern]) => pattern.test(agent))) return 'preview'
  if (hasBot(agent)) return 'bot' satisfies Agent['class']
  // a rule that matched something else than a word may match it still
  if (before === 'bot' && (bot === null || bot === '' || !agent.split(' ').includes(bot))) return before
  return 'human' satisfies Agent['class']
}
