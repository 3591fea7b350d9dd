import type { Answer } from './client.ts'
import { long, useLinks } from './links.ts'

export { long }

export const agents = {
  person:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
  pixel8:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36',
  facebook: 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  slack: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  googlebot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
}
/** Addresses in these countries. */
export const [canada, germany] = ['24.48.0.1', '84.160.0.1'] as const

/**
 * Returns the Content-Security-Policy of a page, by directive, with `own` for the hash of a style or script of ours.
 */
export const policyOf = ({ headers }: Answer) =>
  Object.fromEntries(
    (headers.get('Content-Security-Policy') ?? '')
      .replaceAll(/'sha256-[\w+/=]{44}'/g, 'own')
      // the icon of this service, which every page may load
      .replace(/ img-src 'self';/, '')
      .replace(/img-src 'self' /, 'img-src ')
      .split('; ')
      .map((directive) => directive.split(/ (.*)/, 2)) as [string, string][],
  )
/** The directives that every page has. */
export const strict = {
  'default-src': `'none'`,
  'form-action': `'self'`,
  'base-uri': `'none'`,
  'frame-ancestors': `'none'`,
}

/** Returns a response in short: status, and the location or the heading. */
export const summary = ({ status, headers, text }: Answer) =>
  status === 302
    ? `302 ${headers.get('Location')}`
    : `${status} ${/<(iframe|aside)/.exec(text)?.[1] ?? /<h1[^>]*>(.*?)<\/h1>/s.exec(text)?.[1]}`

/** Fields of an overlay of type message. */
export const message = { type: 'message', name: 'm', message: 'Read our guide', link: 'https://example.com/guide' }

/**
 * Starts a service for the enclosing `describe`, and returns what its tests need to make and visit links with
 * interstitials.
 */
export const useInterstitials = (settings: Readonly<Record<string, string>> = {}) => {
  const links = useLinks({ TRUST_PROXY: '1', ...settings })
  return {
    ...links,
    /** Visits a path as a person does, unless the headers say otherwise. */
    visit: (path: string, headers: Record<string, string> = {}, at = links.app()) =>
      at.ask('GET', path, { headers: { 'User-Agent': agents.person, ...headers } }),
    /** Fields of a link for each kind of page that people see. */
    kinds: async () => {
      const pixels = [await links.create('pixel', { type: 'bing', name: 'p', tag: '123' })]
      const overlay = `overlay-${await links.create('overlay', message)}`
      return { frame: { type: 'frame' }, splash: { type: 'splash' }, overlay: { type: overlay }, pixels: { pixels } }
    },
  }
}
