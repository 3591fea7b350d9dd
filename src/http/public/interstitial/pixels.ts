import { knownIn } from '../../../events/openenum.ts'
import { type PixelFields, PixelType } from '../../../events/pages/pixel.ts'

/**
 * How a network is notified of a visit: by an image (the one its own code has in `noscript`) wherever it accepts one,
 * so that no third-party script runs on our pages; by a script where it accepts nothing else. `queue` names what has to
 * be prepared for that script.
 */
export type Fire =
  | { readonly image: string }
  | { readonly script: string; readonly queue: 'gtm' | 'ga' | 'tiktok'; readonly tag: string }
interface Vendor {
  /** as visitors know it */
  readonly name: string
  readonly fires: (tag: string) => readonly Fire[]
  /** further hosts: those that the first ones redirect to, or that the script sends to */
  readonly hosts?: readonly string[]
}

const image =
  (...urls: readonly ((tag: string) => string)[]): Vendor['fires'] =>
  (tag) =>
    urls.map((url) => ({ image: url(encodeURIComponent(tag)) }))
const script =
  (queue: 'gtm' | 'ga' | 'tiktok', url: (tag: string) => string): Vendor['fires'] =>
  (tag) => [{ script: url(encodeURIComponent(tag)), queue, tag }]

const google = ['https://www.googletagmanager.com', 'https://*.google-analytics.com', 'https://*.analytics.google.com']
const vendors: Readonly<Record<PixelType, Vendor>> = {
  gtmpixel: {
    name: 'Google Tag Manager',
    fires: script('gtm', (tag) => `https://www.googletagmanager.com/gtm.js?id=${tag}`),
    hosts: google,
  },
  gapixel: {
    name: 'Google Analytics',
    fires: script('ga', (tag) => `https://www.googletagmanager.com/gtag/js?id=${tag}`),
    hosts: google,
  },
  fbpixel: {
    name: 'Meta Pixel',
    fires: image((tag) => `https://www.facebook.com/tr?id=${tag}&ev=PageView&noscript=1`),
  },
  adwordspixel: {
    name: 'Google Ads',
    // Google Ads shows its tags as AW-123; the address takes the number only
    fires: (tag) => [
      {
        image: `https://googleads.g.doubleclick.net/pagead/viewthroughconversion/${encodeURIComponent(tag.replace(/^AW-/i, ''))}/?value=0&guid=ON&script=0`,
      },
    ],
    hosts: ['https://www.google.com'],
  },
  linkedinpixel: {
    name: 'LinkedIn',
    fires: image((tag) => `https://px.ads.linkedin.com/collect/?pid=${tag}&fmt=gif`),
    hosts: ['https://px4.ads.linkedin.com', 'https://www.linkedin.com'],
  },
  twitterpixel: {
    name: 'X',
    fires: image(
      ...['https://analytics.twitter.com', 'https://t.co'].map(
        (host) => (tag: string) => `${host}/i/adsct?txn_id=${tag}&p_id=Twitter&tw_sale_amount=0&tw_order_quantity=0`,
      ),
    ),
  },
  adrollpixel: {
    name: 'AdRoll',
    // advertiser and pixel, as `ADVERTISER/PIXEL`
    fires: (tag) => [{ image: `https://d.adroll.com/ipixel/${tag.split('/').map(encodeURIComponent).join('/')}` }],
  },
  quorapixel: {
    name: 'Quora',
    fires: image((tag) => `https://q.quora.com/_/ad/${tag}/pixel?tag=ViewContent&noscript=1`),
  },
  pinterest: {
    name: 'Pinterest',
    fires: image((tag) => `https://ct.pinterest.com/v3/?event=pagevisit&tid=${tag}&noscript=1`),
  },
  bing: { name: 'Microsoft Advertising', fires: image((tag) => `https://bat.bing.com/action/0?ti=${tag}&Ver=2`) },
  snapchat: { name: 'Snapchat', fires: image((tag) => `https://tr.snapchat.com/p?pid=${tag}&ev=PAGE_VIEW&noscript=1`) },
  reddit: { name: 'Reddit', fires: image((tag) => `https://alb.reddit.com/rp.gif?event=PageVisit&id=${tag}`) },
  tiktok: {
    name: 'TikTok',
    fires: script('tiktok', (tag) => `https://analytics.tiktok.com/i18n/pixel/events.js?sdkid=${tag}&lib=ttq`),
    hosts: ['https://analytics.tiktok.com'],
  },
}

/** Returns the networks that measure with these pixels, in the order of the pixels, each once. */
export const networksOf = (pixels: readonly Pick<PixelFields, 'type'>[]): readonly string[] => [
  ...new Set(
    pixels.flatMap(({ type }) => {
      const known = knownIn(PixelType, type)
      return known ? [vendors[known].name] : []
    }),
  ),
]

const originOf = (url: string) => new URL(url).origin

/**
 * Returns what these pixels fire, and the sources that the page must allow for it, by directive of its
 * Content-Security-Policy.
 */
export const firing = (pixels: readonly Pick<PixelFields, 'type' | 'tag'>[]) => {
  const used = pixels.flatMap(({ type, tag }) => {
    // a network that only a newer release knows is left out
    const known = knownIn(PixelType, type)
    return known ? [{ fires: vendors[known].fires(tag), hosts: vendors[known].hosts ?? [] }] : []
  })
  const fires = used.flatMap(({ fires }) => fires)
  const scripts = used.filter(({ fires }) => fires.some((fire) => 'script' in fire))
  return {
    fires,
    /** a script of a network runs, and not images only */
    runs: scripts.length > 0,
    directives: {
      'img-src': [
        ...fires.flatMap((fire) => ('image' in fire ? originOf(fire.image) : [])),
        ...used.flatMap(({ hosts }) => hosts),
      ],
      'script-src': fires.flatMap((fire) => ('script' in fire ? originOf(fire.script) : [])),
      'connect-src': scripts.flatMap(({ hosts }) => hosts),
    },
  }
}
