import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestApp } from '../support/app.ts'
import { send } from '../support/raw.ts'
import { withClickLogs, withClaims, withDomainChecks, withOperator } from './operator.ts'

/** The service's own host and a branded domain, as visitors address them. */
export const ownHost = 'go.example.com'
export const brandHost = 'links.example.org'

const long = 'https://example.com/'
const agents = {
  chrome:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  googlebot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  slack: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
} as const

export interface Account {
  readonly name: string
  readonly id: number
  readonly key: string
}

/** Sends API requests as one account and visits as people; throws when an answer is not the one a story needs. */
export const openActor = (app: TestApp, { key }: Pick<Account, 'key'>) => {
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
type Actor = ReturnType<typeof openActor>

/** Registers an account of the story. */
export const register = async (app: TestApp, name: string): Promise<Account> => {
  const { id, key } = await app.register(name)
  return { name, id, key }
}

/** Visits a public address; the last byte of the address says who comes. */
export const visit = async (
  app: TestApp,
  path: string,
  { agent = 'chrome', from = '8.8.8.8', host = ownHost, headers = {} }: VisitOptions = {},
) => {
  const answer = await send(app.address, 'GET', path, {
    headers: { Host: host, 'User-Agent': agents[agent], 'X-Forwarded-For': from, ...headers },
  })
  if (answer.status >= 500) throw new Error(`GET ${path} answered ${answer.status}`)
  return answer
}
interface VisitOptions {
  readonly agent?: keyof typeof agents
  readonly from?: string
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
}

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

/** Resources that links refer to: pixels, overlays, splash pages and campaigns; each kind has a changed and a deleted one. */
const makeParts = async ({ add, update, remove }: Actor) => {
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

/** A link with every field, one of every way of redirecting, and a life that ends. */
const makeLinks = async ({ add, update, remove, call }: Actor, parts: Parts, domain: number) => {
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
  // an alias that was given up comes back to its account: after a rename, and after a deletion
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

/** QR codes, bio pages and channels with members of all three kinds. */
const makeGroups = async ({ add, update, remove, call }: Actor, full: number, direct: number, logo: string) => {
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

const makeDomains = async ({ add, update, remove }: Actor) => {
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
  return { brand, checked, unverified }
}

const visitors: readonly VisitOptions[] = [
  {},
  {},
  { agent: 'firefox', from: '8.8.4.4', headers: { Referer: 'https://www.facebook.com/x', 'Accept-Language': 'de-DE' } },
  {
    agent: 'iphone',
    from: '1.1.1.1',
    headers: { Referer: 'https://t.co/abc', 'Accept-Language': 'fr;q=0.9, en;q=0.5' },
  },
  { agent: 'googlebot' },
  { agent: 'slack' },
  { agent: 'firefox', headers: { 'Sec-Purpose': 'prefetch' } },
]

/** The form of an overlay, filled in by a visitor. */
const answer = async (app: TestApp, overlay: number, fields: Readonly<Record<string, string>>) => {
  const { status, text } = await send(app.address, 'POST', `/o/${overlay}`, {
    headers: { Host: ownHost, 'Content-Type': 'application/x-www-form-urlencoded', 'X-Forwarded-For': '8.8.8.8' },
    body: new URLSearchParams(fields).toString(),
  })
  if (status !== 200) throw new Error(`an answer to overlay ${overlay} got ${status}: ${text}`)
}

const answerAll = async (app: TestApp, [, contact, poll, news]: readonly number[]) => {
  await answer(app, contact!, { name: 'Vic Visitor', email: 'vic@example.net', message: 'Please call me.\nThanks' })
  await answer(app, contact!, { email: 'second@example.net', message: 'Me too' })
  await answer(app, poll!, { choice: 'Green tea' })
  await answer(app, news!, { email: 'reader@example.net' })
}

/** The account with everything. Resolves with what a later part of the story needs. */
const tellAnn = async (app: TestApp, ann: Account, logo: string) => {
  const actor = openActor(app, ann)
  const parts = await makeParts(actor)
  const domains = await makeDomains(actor)
  const links = await makeLinks(actor, parts, domains.brand)
  const groups = await makeGroups(actor, links.full, links.direct, logo)
  await actor.remove('campaign', parts.former)
  await actor.call('PUT', '/api/account/update', { email: 'ann.lee@example.com', password: 'another horse 2' })

  const code = String((await actor.call('GET', `/api/qr/${groups.codes[0]}`))['details'].link)
  const paths = ['/full', '/direct', '/splashed', '/overlaid-1', '/locked', '/ann-page', '/r/spring', '/not-there']
  for (const path of [...paths, `${new URL(code).pathname}/go`])
    for (const options of visitors) await visit(app, path, options)
  await visit(app, '/branded', { host: brandHost })
  await answerAll(app, parts.shown)
  return { parts, domains, links, groups }
}

/** A second account with little, one that is disabled, one that was disabled for a while, and one that is erased. */
const tellOthers = async (app: TestApp, { bob, dan, eve }: Readonly<Record<'bob' | 'dan' | 'eve', Account>>) => {
  for (const account of [bob, dan, eve]) {
    const { add, call } = openActor(app, account)
    const { name } = account
    const link = await add('url', { url: `${long}${name}`, custom: `of-${name}`, title: `A link of ${name}` })
    const channel = await add('channel', { name: `Channel of ${name}` })
    await call('POST', `/api/channel/${channel}/assign/links/${link}`)
    await add('qr', { type: 'wifi', data: { ssid: `Net of ${name}`, pass: 'private horse' } })
    await add('bio', { name: `Bio of ${name}`, alias: `bio-${name}`, links: [] })
    await add('campaign', { name: `Campaign of ${name}`, slug: `camp-${name}`, public: true })
    await answer(app, await add('overlay', { type: 'contact', name: 'Write me' }), {
      email: 'v@example.net',
      message: name,
    })
    await visit(app, `/of-${name}`)
  }
}

/**
 * Tells the service everything that a log can hold, through its API where that can say it and otherwise through the code the
 * program itself uses. Resolves when the link that expires has expired.
 */
export const tellStory = async (app: TestApp, logo: string): Promise<readonly Account[]> => {
  const [ann, bob, dan, eve, fay] = [
    await register(app, 'ann'),
    await register(app, 'bob'),
    await register(app, 'dan'),
    await register(app, 'eve'),
    await register(app, 'fay'),
  ]
  const { domains, links } = await tellAnn(app, ann, logo)
  await tellOthers(app, { bob, dan, eve })
  const { ledger } = app.app
  const operator = withOperator(ledger)
  await withDomainChecks(ledger, domains)
  await withClaims(ledger, { account: ann.id, rival: bob.id, link: links.direct })
  await withClickLogs(ledger, { account: ann.id, link: links.full, spool: randomUUID() })
  await operator.disable(dan.id)
  await operator.erase(eve.id)
  await operator.disable(fay.id)
  await operator.enable(fay.id)
  const rotated = await operator.issueKey(fay.id, '2999-12-31T23:59:59.000Z')
  const expired = await register(app, 'gus')
  const past = await operator.issueKey(expired.id, new Date().toISOString())
  while ((await visit(app, '/brief')).status !== 410) await sleep(100)
  // the e-mail that ann gave up is free, the username is not
  const again = await register(app, 'ann')
  return [ann, bob, dan, eve, { ...fay, key: rotated }, { ...expired, key: past }, { ...again, name: 'hal' }]
}

/** Visits that the spool alone has: appends wait meanwhile. */
export const visitOnce = async (app: TestApp) => {
  for (const path of ['/direct', '/full', '/of-bob', '/overlaid-2', '/of-dan'])
    for (const options of visitors.slice(0, 5)) await visit(app, path, options)
}
