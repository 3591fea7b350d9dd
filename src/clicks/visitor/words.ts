import { type Agent, tokenOf, typedWords } from './agent.ts'
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

/** What the rules say of a click: its class, and what decides. */
export interface Decided {
  readonly class: string
  /** the name of a previewer or assistant, the word that shows a robot, or that did so until now; may be empty */
  readonly rule: string
}

/**
 * Returns what the rules of now say of a click, as far as its words allow. A class stays where the words do not show
 * what decided: versions, addresses and marks are not among them.
 */
export const decideByWords = ({ agent, bot, class: before }: Classification): Decided => {
  const same = { class: before, rule: bot ?? '' }
  if (before === 'prefetch' || agent === '' || typedWords.has(agent)) return same
  const find = (kind: (typeof kinds)[number], is: (one: Names[number]) => boolean) =>
    (named[kind] as Names).find(is)?.[0]
  if (kinds.some((kind) => kind === before && find(kind, ([name]) => name === bot) !== undefined)) return same
  for (const kind of kinds) {
    const rule = find(kind, ([, pattern]) => pattern.test(agent))
    if (rule !== undefined) return { class: kind, rule }
  }
  const robot = robotInWords(agent)
  if (robot !== undefined) return { class: 'bot' satisfies Agent['class'], rule: tokenOf(agent.split(' '), robot) }
  // a rule that matched something else than a word may match it still
  if (before === 'bot' && (bot === null || bot === '' || !agent.split(' ').includes(bot))) return same
  return { class: 'human' satisfies Agent['class'], rule: bot ?? '' }
}
