import { getDomain } from 'tldts'
import { Html } from '../page/html.ts'

/**
 * Drawings of our own, on a grid of 24 by 24. They show what kind of site it is, never a company's logo, which would be
 * a trademark.
 */
const drawings = {
  bag: '<path d="M5 8h14l1 12H4zM9 8V6.5a3 3 0 0 1 6 0V8"/>',
  book: '<path d="M12 6.5C10 5 7.5 4.5 4 4.5V18c3.5 0 6 .5 8 2 2-1.5 4.5-2 8-2V4.5c-3.5 0-6 .5-8 2zV20"/>',
  calendar: '<path d="M4 6.5h16V20H4zM4 10.5h16M8 4v4M16 4v4"/>',
  camera: '<path d="M4 7.5h3.5L9 5h6l1.5 2.5H20V19H4z"/><circle cx="12" cy="13" r="3.5"/>',
  chat: '<path d="M4 5h16v11h-9l-4.5 4v-4H4zM8 9.5h8M8 12.5h5"/>',
  code: '<path d="M8.5 7l-5 5 5 5M15.5 7l5 5-5 5M13.5 5l-3 14"/>',
  globe: '<circle cx="12" cy="12" r="8.5"/><path d="M3.5 12h17M12 3.5c3.3 3 3.3 14 0 17M12 3.5c-3.3 3-3.3 14 0 17"/>',
  heart: '<path d="M12 20C7 16 3.5 13 3.5 9.2 3.5 4.5 9.5 3.5 12 7.5c2.5-4 8.5-3 8.5 1.7C20.5 13 17 16 12 20z"/>',
  music: '<path d="M9 17.5V5.5l10-2v12"/><circle cx="6.5" cy="17.5" r="2.5"/><circle cx="16.5" cy="15.5" r="2.5"/>',
  people:
    '<circle cx="9" cy="8.5" r="3.3"/><path d="M2.5 20c.5-4 3-6 6.5-6s6 2 6.5 6M16 5.5a3.3 3.3 0 0 1 0 6.2M18 14.5c2 .8 3.2 2.6 3.5 5.5"/>',
  pin: '<path d="M12 21s-6.5-6-6.5-11a6.5 6.5 0 0 1 13 0c0 5-6.5 11-6.5 11z"/><circle cx="12" cy="10" r="2.3"/>',
  play: '<path d="M3.5 6h17v12h-17zM10.5 9.5v5l4-2.5z"/>',
  text: '<path d="M6 3.5h8.5L18.5 8v12.5H6zM14 3.5V8h4.5M9 12h6M9 15.5h6"/>',
} as const
type Kind = keyof typeof drawings

/** Registered domains of well-known sites, by kind. */
const sites: Readonly<Partial<Record<Kind, string>>> = {
  bag: 'amazon.com amazon.de amazon.fr amazon.es amazon.co.uk ebay.com ebay.de etsy.com gumroad.com myshopify.com vinted.com',
  book: 'goodreads.com openlibrary.org wikipedia.org wikimedia.org zotero.org',
  calendar: 'cal.com calendly.com doodle.com eventbrite.com eventbrite.de lu.ma meetup.com',
  camera: '500px.com behance.net dribbble.com flickr.com instagram.com pinterest.com pixelfed.social unsplash.com',
  chat: 'discord.com discord.gg matrix.to reddit.com signal.group signal.me slack.com t.me telegram.me wa.me whatsapp.com',
  code: 'bitbucket.org codeberg.org gitlab.com github.com github.io npmjs.com sr.ht stackoverflow.com',
  heart:
    'buymeacoffee.com gofundme.com kickstarter.com ko-fi.com liberapay.com patreon.com paypal.com paypal.me steady.page',
  music: 'bandcamp.com deezer.com last.fm mixcloud.com soundcloud.com spotify.com tidal.com',
  people: 'bsky.app facebook.com linkedin.com mastodon.social threads.com threads.net twitter.com x.com xing.com',
  pin: 'komoot.com komoot.de openstreetmap.org tripadvisor.com',
  play: 'dailymotion.com tiktok.com twitch.tv vimeo.com youtu.be youtube.com',
  text: 'blogspot.com ghost.io medium.com substack.com tumblr.com wordpress.com',
}
const kinds: ReadonlyMap<string, Kind> = new Map([
  ...Object.entries(sites).flatMap(([kind, domains]) =>
    domains.split(' ').map((domain) => [domain, kind as Kind] as const),
  ),
  // services of companies that have several
  ...(['maps.app.goo.gl', 'maps.google.com', 'maps.apple.com'] as const).map((host) => [host, 'pin'] as const),
  ['music.apple.com', 'music'],
  ['podcasts.apple.com', 'music'],
  ['calendar.google.com', 'calendar'],
  ['photos.google.com', 'camera'],
  ['docs.google.com', 'text'],
])

/** Returns the icon for a site: of its kind when it is well known, else a globe. */
export const iconOf = (url: string): Html => {
  const { hostname } = new URL(url)
  const kind = kinds.get(hostname) ?? kinds.get(getDomain(hostname) ?? '') ?? 'globe'
  return new Html(`<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">${drawings[kind]}</svg>`)
}
