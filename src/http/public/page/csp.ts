import { createHash } from 'node:crypto'

/** Sources by directive of a Content-Security-Policy, for example `{ 'img-src': ['https://cdn.example.com'] }`. */
export type CspDirectives = Readonly<Record<string, readonly string[]>>

/** An inline style or script, and the source expression that allows exactly this text (CSP 3, 2.3.1). */
export interface Inline {
  readonly text: string
  readonly hash: string
}

export const inline = (text: string): Inline => ({
  text,
  hash: `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
})

/**
 * Returns the origin of a URL as a source expression; for a host that has none there (CSP 3, 2.3.1: an IPv6 address),
 * its scheme.
 */
export const sourceOf = (url: string) => {
  const { protocol, host, origin } = new URL(url)
  return /^[\w.-]+(?::\d+)?$/.test(host) ? origin : protocol
}

/** Returns the directives of several parts of one page, each with the sources of all. */
export const mergeDirectives = (...parts: readonly CspDirectives[]): CspDirectives =>
  Object.fromEntries(
    [...new Set(parts.flatMap((part) => Object.keys(part)))].map((name) => [
      name,
      parts.flatMap((part) => part[name] ?? []),
    ]),
  )

export interface PolicyOptions {
  /** what the page needs beyond the strictest policy */
  readonly directives?: CspDirectives
  readonly styles: readonly Inline[]
  readonly script?: Inline | undefined
  /** targets that its form may lead to, redirects included; by default this service only */
  readonly formAction?: string
}

/**
 * Returns a Content-Security-Policy that allows the given parts and the icon of this service, nothing else: no framing,
 * no other script, no other source.
 */
export const contentSecurityPolicy = ({
  directives = {},
  styles,
  script,
  formAction = `'self'`,
}: PolicyOptions): string => {
  const { 'script-src': scripts = [], 'style-src': styleSources = [], 'img-src': images = [], ...others } = directives
  const all: CspDirectives = {
    'default-src': [`'none'`],
    'style-src': [...styles.map(({ hash }) => hash), ...styleSources],
    ...(script ? { 'script-src': [script.hash, ...scripts] } : {}),
    // browsers load the icon of a page only when its policy allows it
    'img-src': [`'self'`, ...images],
    ...others,
    'form-action': [formAction],
    'base-uri': [`'none'`],
    'frame-ancestors': [`'none'`],
  }
  const used = Object.entries(all).filter(([, sources]) => sources.length > 0)
  return used.map(([name, sources]) => [name, ...new Set(sources)].join(' ')).join('; ')
}
