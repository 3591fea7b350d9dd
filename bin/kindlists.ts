// Finds lists of the kinds of resources that are written by hand. A new kind is forgotten in them, because no compiler
// asks for it.

/** The words for each kind in lists: its name, its path in the API, its tables, its labels. */
const words = {
  account: ['account', 'accounts'],
  bio: ['bio', 'bios', 'bio page', 'bio pages'],
  campaign: ['campaign', 'campaigns'],
  channel: ['channel', 'channels'],
  domain: ['domain', 'domains'],
  link: ['link', 'links', 'url', 'urls'],
  overlay: ['overlay', 'overlays', 'cta overlay'],
  pixel: ['pixel', 'pixels'],
  qr: ['qr', 'qrs', 'qr code', 'qr codes'],
  splash: ['splash', 'splashes', 'splash page', 'splash pages'],
  webhook: ['webhook', 'webhooks'],
}
const kindOfWord = new Map(Object.entries(words).flatMap(([kind, all]) => all.map((word) => [word, kind])))

/** A list of fewer kinds chooses some of them, which is a decision of its own. */
const leastListed = 6

const comment = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/.source
const string = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/.source
const tokens = new RegExp(`${comment}|${string}|[\\w$]+|\\s+|[^]`, 'g')

/** `campaignEvents` and `/api/campaigns` name the kind `campaign`; a sentence names none. */
const kindsIn = (token: string): readonly string[] => {
  const quoted = /^['"`]/.test(token)
  const text = quoted ? token.slice(1, -1) : token
  const whole = kindOfWord.get(text.toLowerCase())
  if (whole !== undefined) return [whole]
  if (quoted && !/^[\w/:.-]+$/.test(text)) return []
  const parts = text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return parts.flatMap((part) => kindOfWord.get(part.toLowerCase()) ?? [])
}

interface List {
  readonly line: number
  readonly kinds: ReadonlySet<string>
}

/**
 * Returns the lists of a source that name most kinds: an entry of `[…]`, `{…}`, `(…)` and `a | b`, a name of an import
 * and a `case` each have one at most.
 */
export const listsIn = (source: string): readonly List[] => {
  const found: List[] = []
  let line = 1
  const begin = () => ({ line, kinds: new Set<string>(), isNamed: false })
  const open = [begin()]
  const close = () => {
    const list = open.pop()
    if (list && list.kinds.size >= leastListed) found.push(list)
  }
  for (const [token] of source.matchAll(tokens)) {
    const last = open.at(-1)
    if ('[{('.includes(token)) open.push(begin())
    else if (']})'.includes(token)) {
      if (open.length > 1) close()
    } else if (last && (',|;&'.includes(token) || token === 'case')) last.isNamed = false
    else if (!/^(?:\/[/*]|\s)/.test(token)) {
      const [kind] = kindsIn(token)
      for (const one of kind === undefined ? [] : open.filter(({ isNamed }) => !isNamed)) {
        one.kinds.add(kind!)
        one.isNamed = true
      }
    }
    line += token.split('\n').length - 1
  }
  while (open.length > 0) close()
  return found
}
