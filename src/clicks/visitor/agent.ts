import { createHash } from 'node:crypto'
import Bowser from 'bowser'
import QuickLRU from 'quick-lru'
import { familyOf, isBrowser as isOfFamily } from './browser.ts'
import { browserIn, type DeviceKind, deviceIn, forBowser, systemIn } from './corrections.ts'
import { hasName, modelsIn } from './device.ts'
import { assistants } from './assistants.ts'
import { previewers } from './previewers.ts'
import { robotIn, robotRules } from './robots.ts'

/**
 * Goes up when this code gives a user agent another class: the lists do not show that. A spec has the classes of many
 * user agents.
 */
const code = 2

type Named = readonly (readonly [name: string, pattern: RegExp])[]
/**
 * Returns the version of rules for classes: it follows from the rules, so that no change of them, or update of isbot,
 * can be forgotten. The first release had the version 1.
 */
export const versionOf = (robots: readonly unknown[], ...named: readonly Named[]): number => {
  const rules = [code, robots, named.map((list) => list.map(([name, { source, flags }]) => [name, source, flags]))]
  return Math.max(createHash('sha256').update(JSON.stringify(rules)).digest().readUInt32BE(0) >>> 1, 2)
}

/** The version of the rules that classify a visitor. Every batch of clicks carries it; recorded clicks keep theirs. */
export const rulesVersion = versionOf(robotRules, previewers, assistants)

/** Maximum length of a user agent in characters; the rest is cut off before parsing. */
export const agentLimit = 512

export interface Agent {
  readonly browser: { readonly family: string; readonly version: string }
  readonly os: { readonly family: string; readonly version: string }
  readonly device: DeviceKind
  readonly class: 'human' | 'bot' | 'preview' | 'assistant'
  /**
   * the name of a previewer or assistant, or the word that a rule for robots matched; `` when there is no such word,
   * for example without a user agent
   */
  readonly bot?: string
  /** the words of the user agent, letters only, at most 128 bytes: a later list of bots can be applied to them */
  readonly words: string
}

// `120.0.6099.144` -> `120`, `17.4.1` -> `17.4`. A number of more than four digits is not a version and might identify
// a person.
const shortVersion = (version: string | undefined): string => {
  const [, major, minor] = /^(\d{1,4})(?:\.(\d{1,4}))?(?!\d)/.exec(version ?? '') ?? []
  if (!major) return ''
  return minor && Number(minor) > 0 ? `${major}.${minor}` : major
}

const engineNote = /\(KHTML, like Gecko\)/g
const urls = /\b(https?):\S*|\bwww\.\S*/gi
const builds = /\+git\w*/gi
const mails = /[\w.+-]{1,64}(?:@|\s?[([{]\s?at\s?[)\]}]\s?)[\w.-]*/gi
const addresses = /\b[\da-f]{0,4}(?::[\da-f]{0,4}){2,}|\b(?=[a-z]*\d)[\da-f]{6,}\b/gi

// Letters only: they can name a program, but not identify a person or a device.
const wordsOf = (text: string): readonly string[] => {
  const clean = text
    .replace(engineNote, ' ')
    .replace(builds, ' ')
    .replace(urls, ' $1 ')
    .replace(mails, ' ')
    .replace(addresses, ' ')
  const words = new Set<string>()
  let size = -1
  for (const [found] of clean.matchAll(/[a-z]+(?:[-_][a-z]+)*/gi)) {
    const word = found.slice(0, 32)
    if (word.length < 2 || words.has(word)) continue
    size += word.length + 1
    if (size > 128) break
    words.add(word)
  }
  return [...words]
}

// isbot may match a part of a word (`bot`) or the whole user agent. The recorded token is the whole word, provided it
// is one of the words kept. When only an address reveals a bot, the word before the address names it, as in
// `(compatible; Yahoo! Slurp; http://…)`.
export const tokenOf = (words: readonly string[], match: string): string => {
  const piece = wordsOf(match)[0]?.toLowerCase()
  if (piece === undefined) return ''
  const at = words.findIndex((word) => word.toLowerCase().includes(piece))
  return words[/^https?$/.test(words[at] ?? '') ? at - 1 : at] ?? ''
}

/** The words of programs that a person types in a terminal, see `typedByHand`. */
export const typedWords: ReadonlySet<string> = new Set(['curl', 'HTTPie', 'xh'])
// isbot takes these for robots, but a person types them in a terminal and expects the click to be counted
const typedByHand = /^(?:curl|HTTPie|xh)\/[\w.-]+$/i

const classOf = (text: string, words: readonly string[]): Pick<Agent, 'class' | 'bot'> => {
  const previewer = previewers.find(([, pattern]) => pattern.test(text))
  if (previewer) return { class: 'preview', bot: previewer[0] }
  const assistant = assistants.find(([, pattern]) => pattern.test(text))
  if (assistant) return { class: 'assistant', bot: assistant[0] }
  const match = typedByHand.test(text) ? undefined : robotIn(text)
  return match === undefined ? { class: 'human' } : { class: 'bot', bot: tokenOf(words, match) }
}

const deviceOf = (platform: string, os: string, text: string): DeviceKind => {
  const [model] = modelsIn(text)
  if (model !== undefined) return model === 'ipad' ? 'tablet' : 'mobile'
  const named = deviceIn(text)
  if (named !== undefined) return named
  if (platform === 'desktop' || platform === 'mobile' || platform === 'tablet') return platform
  return os === 'Chrome OS' ? 'desktop' : 'other'
}

// Every browser sends a user agent.
const withoutAgent: Agent = {
  browser: { family: 'Unknown Browser', version: '' },
  os: { family: 'Unknown OS', version: '' },
  device: 'other',
  class: 'bot',
  bot: '',
  words: '',
}

const parse = (text: string): Agent => {
  if (text.trim() === '') return withoutAgent
  const parser = Bowser.getParser(forBowser(text), true)
  const browser = browserIn(text) ?? { family: familyOf(parser.getBrowserName()), version: parser.getBrowserVersion() }
  const found = parser.getOS()
  // the version of the Mac that an iPad claims to be is not its own
  const isPad = found.name === 'macOS' && modelsIn(text).includes('ipad')
  const system = systemIn(text, isPad ? { name: 'iOS' } : found)
  const words = wordsOf(text)
  return {
    browser: browser.family ? { family: browser.family, version: shortVersion(browser.version) } : withoutAgent.browser,
    os: system
      ? {
          family: system.family,
          version: system.family === 'Windows' ? (found.versionName ?? '') : shortVersion(system.version),
        }
      : withoutAgent.os,
    device: deviceOf(parser.getPlatformType(), system?.family ?? '', text),
    ...classOf(text, words),
    words: words.join(' '),
  }
}

const cache = new QuickLRU<string, Agent>({ maxSize: 2_000 })

/** Returns the browser, operating system and device of a user agent, and whether a person uses it. */
export const readAgent = (userAgent: string): Agent => {
  // a slice would keep the whole header alive in the cache, so the text is copied
  const text = userAgent.length > agentLimit ? Buffer.from(userAgent.slice(0, agentLimit)).toString() : userAgent
  const known = cache.get(text)
  if (known) return known
  const agent = parse(text)
  cache.set(text, agent)
  return agent
}

/** Whether a user agent is the device with this name. */
export const isDevice = (name: string, agent: string): boolean =>
  hasName(name, {
    os: () => readAgent(agent).os.family,
    device: () => readAgent(agent).device,
    models: () => modelsIn(agent),
  })

/** Whether a user agent is the browser with this name. */
export const isBrowser = (name: string, agent: string): boolean => isOfFamily(name, readAgent(agent).browser.family)
