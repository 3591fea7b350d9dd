import { parse } from 'tldts'
import { type Html, html } from './html.ts'

export const hostOf = (url: string) => new URL(url).host

/**
 * Returns the host of a URL, written left to right in any language. The registered domain is bold, its subdomains are
 * not; when the Public Suffix List does not know it, the whole host is bold. Names in other scripts stay in punycode,
 * so that none looks like another.
 */
export const hostMarkup = (url: string): Html => {
  const { hostname, host } = new URL(url)
  const { domain, isIcann, isPrivate } = parse(hostname, { allowPrivateDomains: true })
  const known = domain && (isIcann || isPrivate)
  const at = known ? hostname.length - domain.length : 0
  return html`<bdi dir="ltr">${host.slice(0, at)}<b>${host.slice(at)}</b></bdi>`
}

const maxLength = 60

/** Decodes readable characters; others stay percent-encoded, as do invisible ones. */
const readable = (part: string) => {
  try {
    const decoded = decodeURIComponent(part)
    return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(decoded) ? decoded : part
  } catch {
    return part
  }
}

/**
 * Returns the path of a URL as visitors can read it, without its middle when it is long; an empty string for the root.
 */
export const pathOf = (url: string) => {
  const parts = new URL(url).pathname.split('/').map(readable)
  const path = parts.join('/')
  if (path === '/') return ''
  const last = parts.at(-1) || `${parts.at(-2) ?? ''}/`
  const short = path.length > maxLength && parts.length > 3 ? [...parts.slice(0, 3), '…', last].join('/') : path
  return short.length > maxLength ? `${short.slice(0, maxLength)}…` : short
}

/** A button that leads to the destination; the scripts look for `id="go"`. */
export const continueButton = (url: string, label: string) =>
  html`<a id="go" class="button go" href="${url}" rel="noreferrer nofollow ugc">${label}</a>`
