import type { TestApp } from '../support/app.ts'
import { brandHost } from './visits.ts'

export interface Account {
  readonly name: string
  readonly id: number
  readonly key: string
}

export const long = 'https://example.com/'
/** Sends API requests as one account; throws when one is refused. */
export const apiAs = (app: TestApp, { key }: Pick<Account, 'key'>) => {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await app.ask(method, path, { key, ...(body === undefined ? {} : { body }) })
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
    return answer.json
  }
  return {
    call,
    add: async (what: string, body: object) => Number((await call('POST', `/api/${what}/add`, body))['id']),
    update: (what: string, id: number, body: object) => call('PUT', `/api/${what}/${id}/update`, body),
    remove: (what: string, id: number) => call('DELETE', `/api/${what}/${id}/delete`),
  }
}
export type Actor = ReturnType<typeof apiAs>

const overlays = [
  {
    type: 'message',
    name: 'Guide',
    message: 'Read our new guide.',
    label: 'Read',
    link: `${long}guide`,
    position: 'tr',
  },
  { type: 'contact', name: 'Contact us', message: 'Write to us', label: 'Send it' },
  { type: 'poll', name: 'Drinks poll', question: 'Tea or coffee?', options: ['Green tea', 'Black coffee'] },
  { type: 'newsletter', name: 'News letter', color: '#112233' },
  {
    type: 'image',
    name: 'Banner ad',
    image: 'https://cdn.example.com/banner.png',
    link: `${long}sale`,
    position: 'bl',
  },
  { type: 'coupon', name: 'Spring coupon', coupon: 'SPRING 10', message: 'Ten per cent off' },
]
const pixelTypes =
  'gtmpixel gapixel fbpixel adwordspixel linkedinpixel twitterpixel adrollpixel quorapixel pinterest bing snapchat reddit tiktok'
const qrCodes = (logo: string) => [
  {
    type: 'link',
    data: `${long}menu?table=7#wine`,
    name: 'Menu',
    foreground: 'rgb(10,20,60)',
    background: '#fff',
    logo,
  },
  { type: 'text', data: 'Line one\nline two' },
  {
    type: 'vcard',
    data: { fname: 'Ann', lname: 'Lee', org: 'Example Ltd', phone: '+1 555 0100', email: 'a@example.com' },
  },
  { type: 'email', data: { email: 'ann@example.com', subject: 'Hello there', body: 'How are you?' } },
  { type: 'phone', data: '+1 555 010 0199' },
  { type: 'sms', data: { phone: '+15550100199', message: 'Call me back' } },
  { type: 'wifi', data: { ssid: 'Guest net', pass: 'correct horse', encryption: 'WPA2' }, name: 'Guest Wi-Fi' },
]

/**
 * Creates resources that links refer to: pixels, overlays, splash pages and campaigns. Of each kind, one is changed and
 * one is deleted.
 */
export const makeParts = async ({ add, update, remove }: Actor) => {
  const pixels: number[] = []
  for (const [i, type] of pixelTypes.split(' ').entries())
    pixels.push(await add('pixel', { type, name: `Pixel of ${type}`, tag: `TAG-${1000 + i}` }))
  await update('pixel', pixels[0]!, { name: 'Renamed pixel', tag: 'GTM-NEW1' })
  await remove('pixel', pixels[12]!)

  const shown: number[] = []
  for (const overlay of overlays) shown.push(await add('overlay', overlay))
  await update('overlay', shown[0]!, { message: 'Read our newest guide.', color: '#abcdef' })
  await remove('overlay', await add('overlay', { type: 'message', name: 'Gone', message: 'Not for long' }))

  const splash = await add('splash', {
    name: 'Spring page',
    title: 'Spring sale',
    message: 'Until next Sunday',
    logo: 'https://cdn.example.com/logo.png',
    banner: 'https://cdn.example.com/wide.png',
    product: `${long}product`,
    counter: 7,
  })
  await update('splash', splash, { message: 'Until next Monday', counter: 9 })
  await remove('splash', await add('splash', { name: 'Old splash' }))

  const campaign = await add('campaign', { name: 'Spring campaign', slug: 'Spring', public: true })
  const secret = await add('campaign', { name: 'Secret campaign' })
  await update('campaign', secret, { name: 'Still secret', slug: 'hush', public: false })
  const former = await add('campaign', { name: 'Former campaign', slug: 'former', public: true })
  return { pixels, shown, splash, campaign, secret, former }
}
type Parts = Awaited<ReturnType<typeof makeParts>>

/**
 * Creates a link with every field, one for each way of redirecting, and links that are renamed, deleted or about to
 * expire.
 */
export const makeLinks = async ({ add, update, remove, call }: Actor, parts: Parts, domain: number) => {
  const link = (custom: string, fields: object = {}) => add('url', { url: `${long}${custom}`, custom, ...fields })
  const full = await link('Full', {
    title: 'Full of "quotes" & <tags>',
    description: 'Every field of a link',
    expiry: '2999-12-31 12:00:00',
    geotarget: [
      { location: 'Canada', link: `${long}ca` },
      { location: 'us', link: `${long}us` },
    ],
    devicetarget: [{ device: 'iPhone', link: `${long}iphone` }],
    languagetarget: [{ language: 'fr', link: `${long}fr` }],
    metatitle: 'Card title',
    metadescription: 'Card description',
    metaimage: 'https://cdn.example.com/card.png',
    parameters: [
      { name: 'utm_source', value: 'mail' },
      { name: 'n', value: 7 },
    ],
    pixels: [],
    campaign: parts.campaign,
  })
  await update('url', full, {
    url: `${long}full?new=1#part`,
    title: 'Full of "quotes" & more',
    pixels: [parts.pixels[1]],
  })
  const direct = await link('direct')
  await link('framed', { type: 'frame' })
  await link('countdown', { type: 'splash' })
  await link('splashed', { type: `splash-${parts.splash}`, pixels: parts.pixels.slice(0, 12) })
  for (const [i, id] of parts.shown.entries()) await link(`overlaid-${i + 1}`, { type: `overlay-${id}` })
  const locked = await link('locked', { password: 'open sesame' })
  await update('url', locked, { url: `${long}locked`, password: 'open barley' })
  const random = await add('url', { url: `${long}random` })
  await link('branded', { domain: `https://${brandHost}` })
  await link('first-name')
  const renamed = (await call('GET', '/api/urls?short=first-name'))['details'].id as number
  await update('url', renamed, { url: `${long}renamed`, custom: 'second-name', domain: `https://${brandHost}` })
  // an account can reuse its own aliases: after a rename, and after a deletion
  await link('first-name', { title: 'Second holder' })
  await remove('url', await link('spring', { title: 'First spring' }))
  await link('Spring', { title: 'Second spring', campaign: parts.former })
  await remove('url', await link('deleted'))
  const brief = await link('brief', {
    expiry: new Date(Date.now() + 2000).toISOString().slice(0, 19).replace('T', ' '),
  })
  await call('POST', `/api/campaign/${parts.secret}/assign/${random}`)
  return { full, direct, locked, random, renamed, brief, domain }
}

/** Creates QR codes, bio pages, and channels with items of all three kinds. */
export const makeGroups = async ({ add, update, remove, call }: Actor, full: number, direct: number, logo: string) => {
  const codes: number[] = []
  for (const code of qrCodes(logo)) codes.push(await add('qr', code))
  await update('qr', codes[1]!, { data: 'Another text', name: 'Renamed text', foreground: '#004400' })
  const gone = await add('qr', { type: 'text', data: 'Soon gone' })

  const links = [
    { title: 'Our shop', url: `${long}shop` },
    { title: 'Our blog', url: `${long}blog` },
  ]
  const bio = await add('bio', {
    name: 'About Ann',
    alias: 'ann-bio',
    title: 'Ann Lee',
    description: 'All my links',
    links,
  })
  await update('bio', bio, { avatar: 'https://cdn.example.com/ann.png', links: links.toReversed(), alias: 'Ann-Page' })
  const other = await add('bio', { name: 'Random bio', links: [] })
  await remove('bio', await add('bio', { name: 'Short lived', alias: 'short-lived', links: [] }))

  const mixed = await add('channel', { name: 'Mixed', description: 'All three kinds', color: '#0af', starred: true })
  const plain = await add('channel', { name: 'Plain' })
  const ended = await add('channel', { name: 'Ended' })
  const members = [`links/${full}`, `bio/${bio}`, `qr/${codes[0]}`, `links/${direct}`, `qr/${gone}`]
  for (const member of members) await call('POST', `/api/channel/${mixed}/assign/${member}`)
  for (const member of [`links/${full}`, `bio/${other}`]) await call('POST', `/api/channel/${plain}/assign/${member}`)
  await call('POST', `/api/channel/${ended}/assign/links/${full}`)
  await update('channel', plain, { description: 'Not so plain', starred: true })
  await remove('channel', ended)
  await remove('qr', gone)
  return { codes, bio, mixed, plain }
}

/**
 * Creates a domain that is changed, one that is deleted and added again, two for DNS checks, and a deleted one. Some
 * have links.
 */
export const makeDomains = async ({ add, update, remove }: Actor) => {
  const brand = await add('domain', {
    domain: `https://${brandHost}`,
    redirectroot: long,
    redirect404: `${long}nothing`,
  })
  await update('domain', brand, { redirect404: `${long}missing` })
  const restored = await add('domain', { domain: 'http://restored.example.org' })
  await remove('domain', restored)
  await add('domain', { domain: 'http://restored.example.org', redirectroot: `${long}back` })
  const checked = await add('domain', { domain: 'https://checked.example.org' })
  const unverified = await add('domain', { domain: 'https://unverified.example.org', redirectroot: `${long}never` })
  const deleted = await add('domain', { domain: 'https://deleted.example.org' })
  await add('url', { url: `${long}on-deleted`, custom: 'orphan', domain: 'https://deleted.example.org' })
  await add('url', { url: `${long}on-unverified`, custom: 'unseen', domain: 'https://unverified.example.org' })
  await remove('domain', deleted)
  const released = await add('domain', { domain: 'https://released.example.org' })
  return { brand, checked, unverified, released }
}
