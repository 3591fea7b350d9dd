import { products, sameNames } from './browser.ts'

/** What Bowser, which reads user agents, does not know or takes for something else. */

export type DeviceKind = 'desktop' | 'mobile' | 'tablet' | 'other'

type Patterns<T extends string = string> = readonly (readonly [name: T, pattern: RegExp])[]
interface Named {
  readonly family: string
  readonly version: string | undefined
}
const first = <T extends string>(patterns: Patterns<T>, text: string) => {
  for (const [family, pattern] of patterns) {
    const found = pattern.exec(text)
    if (found) return { family, version: found[1] }
  }
  return undefined
}

/** Browsers that do not write `Name/1.2`. */
const browsers: Patterns = [
  ['PlayStation', /\bPlayStation (?:\d|Vita|Portable)/i],
  ['Konqueror', /\bKonqueror\b(?:\/([\d.]+))?/i],
  ['Dillo', /\bDillo ([\d.]+)/],
  ['Ecosia', /\bEcosia [a-z]+@([\d.]+)/],
]
const tokens = new RegExp(String.raw`(?<![\w-])(${[...products.keys()].join('|')})(?:/| \()(\d[\d.]*)`)

/** Returns the browser that a user agent names, where Bowser would not. */
export const browserIn = (text: string): Named | undefined => {
  const found = first(browsers, text)
  if (found) return found
  const [, product, version] = tokens.exec(text) ?? []
  const family = products.get(product ?? '')
  return family === undefined ? undefined : { family, version }
}

const systems: Patterns = [
  ['KaiOS', /\bKAIOS\/([\d.]+)/],
  ['PlayStation', /\bPlayStation (?:\d|Vita|Portable)[ /]([\d.]+)/i],
  ['Nintendo', /\bNintendo\b/],
  ['Sailfish OS', /\bSailfish ([\d.]+)/],
  ['Android', /\bAdr ([\d.]+);/],
  ['Symbian', /\bSymb(?:ian|OS)/],
  ['BlackBerry', /\(BlackBerry;/],
  ['FreeBSD', /\bFreeBSD\b/],
  ['NetBSD', /\bNetBSD\b/],
  ['OpenBSD', /\bOpenBSD\b/],
  ['Haiku', /\bHaiku\b/],
]
// For an unknown system Bowser takes a name from the user agent itself, so only the names in this list become labels.
const known: ReadonlyMap<string, string> = new Map([
  ...sameNames('Android, BlackBerry, Chrome OS, HarmonyOS, iOS, Linux, macOS, Roku, Tizen, Windows, Windows Phone'),
  ['WebOS', 'webOS'],
])

/** Returns the system that a user agent names, with what Bowser has found. */
export const systemIn = (text: string, found: { readonly name?: string; readonly version?: string }) => {
  const family = known.get(found.name ?? '')
  return first(systems, text) ?? (family === undefined ? undefined : { family, version: found.version })
}

/** HarmonyOS names the platform that it runs on first. */
const onHarmony = (names: string) => new RegExp(String.raw`\((?:${names}); ?OpenHarmony`, 'i')
const devices: Patterns<DeviceKind> = [
  ['desktop', onHarmony('2in1|PC')],
  ['mobile', onHarmony('Phone')],
  ['tablet', onHarmony('Tablet')],
  ['other', onHarmony('TV|Car|Wearable')],
  // televisions, consoles, glasses, watches, cars
  [
    'other',
    /\b(?:smart-?tv|android ?tv|google ?tv|apple ?tv|hbbtv|crkey|bravia|playstation|nintendo|xbox)\b|\btesla\//i,
  ],
  ['other', /\bAFT[A-Z]{1,5}\b|\bVR(?: Safari|[;)])|\bWatch\b|\bSM-R\d{3}/],
  // e-readers, and tablets whose maker Bowser takes for one of phones
  ['tablet', /\bKindle\b|\bKobo\b|\btolino\b|\bPocketBook\b|\bBOOX\b|\b(?:Mate|Media)Pad\b/],
  ['desktop', /^(?:Lynx|w3m)\/|\bDillo\b|\b(?:Free|Net|Open)BSD\b|\bHaiku\b/],
  ['mobile', /\bOpera Mini\b|\bMIDP|\bKAIOS\b/],
]
/** Returns the device that a user agent names, where Bowser would not. */
export const deviceIn = (text: string): DeviceKind | undefined => first(devices, text)?.family

/** Names that Bowser finds within other words, too: a reader of the `BingSapphire` app does not use `GSA`. */
const withinWords =
  /\b[a-z]*(?:gsa|opera|focus|swing|coast|silk|electron|puffin|whale|vivaldi|epiphany|sleipnir|maxthon|sailfish|tizen|chromium|phantom|ladybird|yahoo)[a-z]*\b/gi
const wholeNames: ReadonlySet<string> = new Set([
  ...['gsa', 'opera', 'operamini', 'operamobi', 'focus', 'swing', 'coast', 'silk', 'electron', 'puffin', 'whale'],
  ...['vivaldi', 'epiphany', 'sleipnir', 'maxthon', 'sailfish', 'sailfishbrowser', 'tizen', 'tizenbrowser', 'chromium'],
  ...['phantomjs', 'ladybird', 'yahoo'],
])
/** Facebook's app on Android writes what a browser would, in its own form. */
const ofFacebook = /^\[FBAN\/FB4A;.*FBSV\/([\d.]+);.*$/
/** Returns a text that Bowser understands: without the version that every browser window of Android has. */
export const forBowser = (text: string): string =>
  text
    .replace(ofFacebook, 'Mozilla/5.0 (Linux; Android $1) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36')
    .replace(' Version/4.0 Chrome/', ' Chrome/')
    .replace(withinWords, (word) => (wholeNames.has(word.toLowerCase()) ? word : '-'))
