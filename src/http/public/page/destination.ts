import { parse } from 'tldts'
import { type Html, html } from './html.ts'

export const hostOf = (url: string) => new URL(url).host

/**
 * Returns the host of a URL, written left to right in any language. The domain that somebody registered is bold, what
 * its owner put in front of it is not; where the Public Suffix List does not know, the whole host is bold. Names in
 * other scripts stay in punycode, so that none looks like another.
 */
export const hostMarkup = (url: string): Html => {
  const { hostname, host } = new URL(url)
  const { domain, isIcann, isPrivate } = parse(hostname, { allowPrivateDomains: true })
  const known = domain && (isIcann || isPrivate)
  const at = known ? hostname.length - domain.length : 0
  return html`<bdi dir="ltr">${host.slice(0, at)}<b>${host.slice(at)}</b></bdi>`
}

const maxLength = 60

/** Decodes what can be read; the rest stays percent-encoded, as do invisible characters. */
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

/** A button that leads to the destination; `id="go"` is what the scripts look for. */
export const continueButton = (url: string, label: string) =>
  html`<a id="go" class="button go" href="${url}" rel="noreferrer nofollow ugc">${label}</a>`
