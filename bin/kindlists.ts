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

/** The name of a type of `kinds.ts`, such as `OwnedKind`. */
const kindType = /(?:Readonly<)?Record<(\w+),/.source
const annotated = new RegExp(`^const \\w+: ${kindType}[^]*> = $`)
const satisfying = new RegExp(`^(?: as const)? satisfies ${kindType}`)

interface Reading {
  readonly source: string
  /** the types whose members are all kinds of a sort */
  readonly types: ReadonlySet<string>
}

/**
 * Whether the compiler says when an object lacks a kind: its type is a `Record` of a type of kinds. One that is
 * `Partial` may lack some.
 */
const isChecked = ({ source, types }: Reading, begin: number, end: number) => {
  const declared = annotated.exec(source.slice(source.lastIndexOf('const ', begin), begin))
  const [, type = ''] = declared ?? satisfying.exec(source.slice(end, end + 200)) ?? []
  return types.has(type)
}

/**
 * Returns the lists of a source that name most kinds: an entry of `[…]`, `{…}`, `(…)` and `a | b`, and a `case` each
 * have one at most. Records that the compiler checks are no such lists, and neither are imports, of which it misses
 * none. `types` are those of kinds.
 */
export const listsIn = (source: string, types: ReadonlySet<string>): readonly List[] => {
  const found: List[] = []
  let line = 1
  let isImport = false
  const begin = (at: number) => ({ line, at, kinds: new Set<string>(), isNamed: false })
  let open = [begin(0)]
  const close = (end: number) => {
    const list = open.pop()
    if (!list || isImport || list.kinds.size < leastListed) return
    if (!isChecked({ source, types }, list.at, end)) found.push(list)
  }
  for (const { 0: token, index } of source.matchAll(tokens)) {
    // a statement ends where the next one begins
    if (
      open.length === 1 &&
      /^(?:import|export|const|type|interface)$/.test(token) &&
      (index === 0 || source[index - 1] === '\n')
    ) {
      close(index)
      open = [begin(index)]
      isImport = token === 'import'
    }
    const last = open.at(-1)
    if ('[{('.includes(token)) open.push(begin(index))
    else if (']})'.includes(token)) {
      if (open.length > 1) close(index + 1)
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
  while (open.length > 0) close(source.length)
  return found
}
