import { type Agent, typedWords } from './agent.ts'
import { assistants } from './assistants.ts'
import { previewers } from './previewers.ts'
import { robotInWords } from './robots.ts'

/** What a click keeps of the rules that classified it. */
export interface Classification {
  /** words of the user agent */
  readonly agent: string
  /** the name of a previewer or assistant, or the word that a rule matched */
  readonly bot: string | null
  readonly class: string
}

type Names = readonly (readonly [name: string, pattern: RegExp])[]
const named = { preview: previewers, assistant: assistants } as const satisfies Readonly<Record<string, Names>>
const kinds = ['preview', 'assistant'] as const

/**
 * Returns the class of a click by the rules of now, as far as its words allow. A class stays where the words do not
 * show what decided: versions, addresses and marks are not among them.
 */
export const classOfWords = ({ agent, bot, class: before }: Classification): string => {
  if (before === 'prefetch' || agent === '' || typedWords.has(agent)) return before
  const has = (kind: (typeof kinds)[number], is: (one: Names[number]) => boolean) => named[kind].some(is)
  if (kinds.some((kind) => kind === before && has(kind, ([name]) => name === bot))) return before
  const kind = kinds.find((one) => has(one, ([, pattern]) => pattern.test(agent)))
  if (kind) return kind
  if (robotInWords(agent) !== undefined) return 'bot' satisfies Agent['class']
  // a rule that matched something else than a word may match it still
  if (before === 'bot' && (bot === null || bot === '' || !agent.split(' ').includes(bot))) return before
  return 'human' satisfies Agent['class']
}
