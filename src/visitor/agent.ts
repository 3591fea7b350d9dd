import Bowser from 'bowser'
import { findBotMatch } from 'isbot'
import QuickLRU from 'quick-lru'
import { previewers } from './previewers.ts'

/**
 * The version of all that classifies a visitor: the rules in this folder, isbot's list and bowser's. It stands on every batch of clicks and is
 * raised whenever one of them changes an answer; the spec that holds it against the installed versions fails until that was considered.
 */
export const rulesVersion = 1

/** What is read of a user agent; the rest is cut before anything parses it. */
export const agentLimit = 512

export interface Agent {
  readonly browser: { readonly family: string; readonly version: string }
  readonly os: { readonly family: string; readonly version: string }
  readonly device: 'desktop' | 'mobile' | 'tablet' | 'other'
  readonly class: 'human' | 'bot' | 'preview'
  /** the previewer's name, or the word that isbot's rule matched; `` when nothing names it, as without a user agent */
  readonly bot?: string
  /** the user agent's words, letters only, at most 128 bytes: what a later list of bots can be run over */
  readonly words: string
}

const asIs = (names: string): readonly (readonly [string, string])[] => names.split(', ').map((name) => [name, name])

// Bowser takes the name from the text itself when it knows none: a label is only what stands here.
const browsers: ReadonlyMap<string, string> = new Map([
  ...asIs('Amazon Silk, Android Browser, BlackBerry, Brave, Chrome, Chromium, DuckDuckGo, Electron, Epiphany, Firefox'),
  ...asIs('Google Search, HeyTap Browser, Internet Explorer, K-Meleon, Ladybird, LibreWolf, Maxthon, Opera, Pale Moon'),
  ...asIs(
    'Puffin, QQ Browser, QQ Browser Lite, QupZilla, Safari, SeaMonkey, Sleipnir, Sogou Browser, Swing, UC Browser',
  ),
  ...asIs('Vivaldi, Vivo Browser, WeChat, Yandex Browser'),
  ['Focus', 'Firefox'],
  ['Microsoft Edge', 'Edge'],
  ['Miui', 'MIUI Browser'],
  ['NAVER Whale Browser', 'Whale'],
  ['Opera Coast', 'Opera'],
  ['Opera Touch', 'Opera'],
  ['PlayStation 4', 'PlayStation'],
  ['Sailfish', 'Sailfish Browser'],
  ['Samsung Internet for Android', 'Samsung Internet'],
  ['Tizen', 'Tizen Browser'],
  ['WebOS Browser', 'webOS Browser'],
])

const systems: ReadonlyMap<string, string> = new Map([
  ...asIs('Android, BlackBerry, Chrome OS, HarmonyOS, iOS, Linux, macOS, Roku, Tizen, Windows, Windows Phone'),
  ['PlayStation 4', 'PlayStation'],
  ['WebOS', 'webOS'],
])

const television = /\b(?:smart-?tv|android ?tv|google ?tv|apple ?tv|hbbtv|crkey|bravia)\b/i
const fireTv = /\bAFT[A-Z]{1,5}\b/

// `120.0.6099.144` -> `120`, `17.4.1` -> `17.4`. Four digits at most: a longer number is no version, and could be anybody's.
const short = (version: string | undefined): string => {
  const [, major, minor] = /^(\d{1,4})(?:\.(\d{1,4}))?(?!\d)/.exec(version ?? '') ?? []
  if (!major) return ''
  return minor && Number(minor) > 0 ? `${major}.${minor}` : major
}

const drawn = /\(KHTML, like Gecko\)/g
const urls = /\b(https?):\S*|\bwww\.\S*/gi
const mails = /[\w.+-]{1,64}(?:@|\s?[([{]\s?at\s?[)\]}]\s?)[\w.-]*/gi
const addresses = /\b[\da-f]{0,4}(?::[\da-f]{0,4}){2,}|\b(?=[a-z]*\d)[\da-f]{6,}\b/gi

// Letters only: what can name a program, nothing that could name a person or a device.
const wordsOf = (text: string): readonly string[] => {
  const clean = text.replace(drawn, ' ').replace(urls, ' $1 ').replace(mails, ' ').replace(addresses, ' ')
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

// isbot's match may be a piece of a word (`bot`), or all there is: the recorded token is the whole word, and only if it may be kept.
// When all that gives a bot away is an address, the word before it names it, as in `(compatible; Yahoo! Slurp; http://…)`.
const tokenOf = (words: readonly string[], match: string): string => {
  const piece = wordsOf(match)[0]?.toLowerCase()
  if (piece === undefined) return ''
  const at = words.findIndex((word) => word.toLowerCase().includes(piece))
  return words[/^https?$/.test(words[at] ?? '') ? at - 1 : at] ?? ''
}

// isbot counts these among the robots, but there is a person at the keyboard of a terminal, who wants to see the click counted
const typedByHand = /^(?:curl|HTTPie|xh)\/[\w.-]+$/i

const classOf = (text: string, words: readonly string[]): Pick<Agent, 'class' | 'bot'> => {
  const previewer = previewers.find(([, pattern]) => pattern.test(text))
  if (previewer) return { class: 'preview', bot: previewer[0] }
  const match = typedByHand.test(text) ? null : findBotMatch(text)
  return match === null ? { class: 'human' } : { class: 'bot', bot: tokenOf(words, match) }
}

const deviceOf = (platform: string, os: string, text: string): Agent['device'] => {
  if (television.test(text) || fireTv.test(text)) return 'other'
  if (platform === 'desktop' || platform === 'mobile' || platform === 'tablet') return platform
  return os === 'Chrome OS' ? 'desktop' : 'other'
}

// No person's browser sends none.
const nobody: Agent = {
  browser: { family: 'Unknown Browser', version: '' },
  os: { family: 'Unknown OS', version: '' },
  device: 'other',
  class: 'bot',
  bot: '',
  words: '',
}

const parse = (text: string): Agent => {
  if (text.trim() === '') return nobody
  const parser = Bowser.getParser(text, true)
  const browser = parser.getBrowser()
  const os = parser.getOS()
  const family = browsers.get(browser.name ?? '')
  const system = systems.get(os.name ?? '')
  const words = wordsOf(text)
  return {
    browser: family ? { family, version: short(browser.version) } : nobody.browser,
    os: system
      ? { family: system, version: system === 'Windows' ? (os.versionName ?? '') : short(os.version) }
      : nobody.os,
    device: deviceOf(parser.getPlatformType(), system ?? '', text),
    ...classOf(text, words),
    words: words.join(' '),
  }
}

const cache = new QuickLRU<string, Agent>({ maxSize: 2_000 })

/** Reads a user agent: which browser, system and device, and whether a person is in front. */
export const readAgent = (userAgent: string): Agent => {
  // copied when cut: a slice would keep the whole header alive in the cache
  const text = userAgent.length > agentLimit ? Buffer.from(userAgent.slice(0, agentLimit)).toString() : userAgent
  const known = cache.get(text)
  if (known) return known
  const agent = parse(text)
  cache.set(text, agent)
  return agent
}
