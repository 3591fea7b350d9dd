import { list } from 'isbot'

/**
 * Patterns of isbot that are words of everyday names. On a phone, a tablet or a television they name an app or a model,
 * as in `… Mobile Safari/537.36 QRScanner/2.0`; anywhere else they name a robot, because robots claim to be desktops.
 */
export const everyday: ReadonlySet<string> = new Set([
  String.raw`(?:^|[^g])news(?!sapphire)`,
  String.raw`(?<! channel/|google/)google(?!(?:wv|app|/google| pixel))`,
  String.raw`(?<!cam)scan`,
  String.raw`(?<!lib)http`,
  '24x7',
  String.raw`;\s\w+;$`,
  String.raw`\(\)`,
  String.raw`\.com\b`,
  String.raw`\b\w+/1\.0;`,
  String.raw`\bbw/`,
  String.raw`\bdlc\b`,
  String.raw`\bort/`,
  String.raw`\bperl\b`,
  String.raw`\btime/`,
  String.raw`\|`,
  'abuse',
  'advisor',
  String.raw`agent\b`,
  'analyzer',
  'archive',
  'audit',
  'capture',
  'catch',
  String.raw`check\b`,
  'checker',
  'classifier',
  'cloudflare',
  'cursor/',
  'detect',
  'discovery',
  'download',
  'feed',
  'grab',
  'insight',
  'inspect',
  'java(?!;)',
  'library',
  'linkcheck',
  'measure',
  String.raw`monitor\b`,
  String.raw`node\b`,
  'optimize',
  'parser',
  'preview',
  'proxy',
  'radar',
  'readable/',
  'retriever',
  'rigor',
  String.raw`rss\b`,
  'server',
  'sogou',
  'sparkler/',
  'splash',
  'supercleaner',
  'tools',
  'torrent',
  'transcoder',
  'url',
  'validator',
  'virtuoso',
])

/** Patterns of isbot that are wrong everywhere, each with whom it takes for a robot. */
export const mistaken: ReadonlyMap<string, string> = new Map([
  ['chromeframe', 'Internet Explorer with a plug-in that many people had'],
])

/** Robots that isbot does not know, or only by an everyday word, each with what they are. */
export const missing: ReadonlyMap<string, string> = new Map([
  [
    String.raw`\bGoogle[- ](?!Earth|Nexus|Pixel|Play|Chrome|TV|WAP)[A-Z]|-Google\b|GoogleAd|googleweblight`,
    'services of Google',
  ],
  [
    String.raw`(?<=\(KHTML, like Gecko[;,]? ?)(?!Safari|HEVC)[^\s;),]+`,
    'a note of an engine that names something else, too',
  ],
  [String.raw`\bBingPreview\b`, 'pictures of pages for the results of Bing'],
  [
    String.raw`\bCloudflare[A-Z]|\bCatchpoint\b|\bGTmetrix\b|\bYLT Chrome\b|Optimizer-Agent`,
    'measure how fast a page is',
  ],
  [
    String.raw`\b(?:Site24x7|StatusCake|DatadogSynthetics|Checkly|BetterUptime|Better Stack|HetrixTools)\b`,
    'watch a site',
  ],
  [
    String.raw`\bAssetnote\b|\b360JK\b|\bLaravel Reaver\b|\bScope(?:3| scope com)\b|\badbeat\b|\bMiniature\.io\b`,
    'look for weak or paid pages',
  ],
  [
    String.raw`(?<=^Mozilla/5\.0 \(compatible;? ?)(?!MSIE|Konqueror|IBrowse|iCab|ABrowse|Netbox|Teleca|MAUI|WAP)[\w-]+(?=[^)]*\)?$)`,
    'programs that name nothing of a browser',
  ],
  [
    String.raw`(?<=\b(?:Safari|Firefox|Chrome)(?:/[\d.]+ \(| )compatible;? )(?!MSIE)[A-Z]\w+`,
    'a note behind the text of a browser, such as that of Barracuda Sentinel, which opens links of mails',
  ],
  [String.raw`\bwkhtmlto\w+|\bHomepageScreenshot\b|\bscreenshot-generator\b`, 'make pictures of pages'],
  [
    String.raw`\bDebugBear\b|\bSiteimprove\b|(?<=\bFirefox(?:/[\d.]+)? )Observatory\b|\bNeustar WPM\b|\bmixed-content-scan\b|\bSiege(?:/\d|$)|\bAlibaba[. ]Security\b`,
    'measure and look through sites',
  ],
  [String.raw`\bclaude-web\b`, 'a crawler of Anthropic'],
  [String.raw`PowerShell\b`, 'a script on Windows'],
  [String.raw`\bjsdom\b|\bSlimerJS\b|\bCamoufox\b|\bZombie[. ]js\b`, 'browsers without a window'],
  [String.raw`\bQGIS\b`, 'a program that loads maps'],
  [String.raw`^iTunes\b`, 'loads podcasts, and opens links in a browser'],
])

/** Forms that browsers have: all others are of programs, which name what they are made with, or nothing. */
const browsers =
  /\bMozilla\b|\bOpera\b|AppleWebKit|\bUC(?:WEB|Browser)|\bUP.Browser|NetFront|Obigo|Teleca|\bMIDP|\bCLDC|WAP[-_ ]?Browser|\bMAUI\b|HbbTV|RokuBrowser|\bOMI\b|\bDoCoMo\b|\bKDDI\b|\bBlackBerry|\bFB(?:AN|_IAB)\b|Firefox|\bMSIE\b|^Nokia/i
/** Browsers for a terminal, whose texts look like those of programs. */
const inTerminal = /^(?:Lynx|E?Links|w3m|Dillo|NetSurf|Browsh)\b/i
/** What Dillo writes today, or its words. */
const ofDillo = /^Mozilla(?:\/4\.0 \(compatible; Dillo [\d.]+\)| compatible Dillo)$/
/** Phones, tablets, televisions and consoles, and windows of desktop programs. */
const onPhone =
  /\bAndroid\b|\biP(?:hone|ad|od)\b|OpenHarmony|\bTizen\b|\bWeb[0o]S|SMART-?TV|HbbTV|NETTV|GoogleTV|\bOMI\b|SmartHub|\bPlayStation\b|\bPalmOS\b|\bBada\b|\bCE-HTML\b|\bElectron\b|\bJavaFX\b|\bGoogle Earth\b|\bFB(?:AN|_IAB)\b|UCBrowser|Mobile|\bMIDP|\bCLDC|\bMAUI\b|WAP[-_ ]?Browser|\bBREW\b|^Nokia/i
/** What only robots write: an address, or what they are compatible with. */
const note = /\bcompatible\b(?!;? MSIE)|\bhttps?\b|\bwww\.|\w@\w/
/** What Facebook's apps write of the phone and its network. */
const ofFacebook = /\[?\bFB(?:AN|_IAB)\b[^\]]*\]?/g
/** The model of a phone: words of any meaning. Two makers have names that end like those of robots. */
const ofDevice = [
  [/\b(?:cu|fossi)bot\b/gi, ''],
  [/^.*\bpr\(UCBrowser.*$/, '[UC]'],
  [/^(Mozilla\/5\.0 \(Linux;(?: U;)? Android )[^)]*/, '$1'],
  [/^(Mozilla Linux Android ).*?(?=AppleWebKit|$)/, '$1'],
] as const

const anyOf = (patterns: readonly string[], flags = '') => new RegExp(patterns.join('|'), flags)
const known = list.filter((pattern) => !mistaken.has(pattern))
const others = anyOf([...missing.keys()])
const [anywhere, onPhones] = [
  anyOf(known, 'i'),
  anyOf(
    known.filter((pattern) => !everyday.has(pattern)),
    'i',
  ),
]

/** What the answers follow from. */
export const robotRules = [
  list,
  [...everyday],
  [...mistaken.keys()],
  [...missing.keys()],
  [browsers, inTerminal, ofDillo, onPhone, note, ...ofDevice.map(([pattern]) => pattern)].map(({ source }) => source),
]

/** Returns the rules for a text, and the text as far as they apply to it. */
const rulesFor = (text: string) =>
  note.test(text) || !browsers.test(text) || !onPhone.test(text)
    ? { rules: anywhere, text }
    : { rules: onPhones, text: ofDevice.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text) }
const isOfPerson = (text: string) => ofDillo.test(text) || (inTerminal.test(text) && !note.test(text))
const firstWord = (text: string) => /[a-z]+/i.exec(text)?.[0] ?? ''

/** Returns what shows that a user agent is not that of a browser; undefined for a browser. */
export const robotIn = (agent: string): string | undefined => {
  if (isOfPerson(agent)) return undefined
  const { rules, text } = rulesFor(agent.replace(ofFacebook, '[FBAN]'))
  const [found] = rules.exec(text) ?? others.exec(agent.replace(ofFacebook, '')) ?? []
  return found ?? (browsers.test(agent) ? undefined : firstWord(agent))
}

/** Whether a rule has found a word, and not only the form of the text that was made of the words. */
const isAmong = (words: string, found: string) => {
  const piece = firstWord(found).toLowerCase()
  return piece !== '' && words.toLowerCase().includes(piece)
}

/**
 * Returns the same for the words of a user agent, as far as they show it. Each is put where browsers have it, and with
 * a version, because some rules ask for one.
 */
export const robotInWords = (words: string): string | undefined => {
  if (isOfPerson(words)) return undefined
  const isMute = /^Mozilla(?: compatible(?: (?!MSIE|Konqueror)[\w-]+)*)?$/i.test(words)
  if (isMute || !browsers.test(words)) return firstWord(words)
  const { rules, text } = rulesFor(words.replace(ofFacebook, 'FBAN'))
  const [found] = rules.exec(`Mozilla/5.0 (${text.replaceAll(' ', '/1 ')}/1) Gecko/20100101`) ?? []
  return found !== undefined && isAmong(text, found) ? found : others.exec(words.replace(ofFacebook, ''))?.[0]
}
