import { expect } from 'chai'
import type { TestApp } from './app.ts'
import { browser } from './client.ts'
import type { Answer } from './client.ts'

type App = Pick<TestApp, 'ask' | 'get' | 'register'>
type Random = (below: number) => number
type Kind =
  'url' | 'qr' | 'bio' | 'campaign' | 'channel' | 'overlay' | 'splash' | 'pixel' | 'domain' | 'key' | 'webhook'

interface Client {
  readonly key: string
  /** ids of what it has, and of some that it has deleted */
  readonly ids: Record<Kind, number[]>
  readonly aliases: string[]
  readonly codes: string[]
}

/** An answer that was saved, and what asks for the same again. */
export interface Saved {
  readonly path: string
  readonly key: string
  readonly status: number
  readonly text: string
  readonly at: string
}

const long = 'https://example.com/'
const kinds: readonly Kind[] = [
  'url',
  'qr',
  'bio',
  'campaign',
  'channel',
  'overlay',
  'splash',
  'pixel',
  'domain',
  'key',
  'webhook',
]
const words = ['spring', 'summer', 'autumn', 'winter', 'sale', 'new']

/** Returns a path with one more parameter of its query. */
export const withAt = (path: string, at: string) =>
  `${path}${path.includes('?') ? '&' : '?'}at=${encodeURIComponent(at)}`

/** Random changes and visits by two accounts, and answers that are saved meanwhile. */
export const openWorkload = async (app: () => App, random: Random) => {
  const pick = <T>(values: readonly T[]): T | undefined => values[random(values.length)]
  const word = () => pick(words) ?? ''
  let n = 0
  const clients: Client[] = []
  for (let i = 0; i < 2; i++) {
    const { key } = await app().register()
    const ids = Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Client['ids']
    clients.push({ key, ids, aliases: [], codes: [] })
  }
  const send = async ({ key }: Client, method: string, path: string, body?: object): Promise<Answer> => {
    const answer = await app().ask(method, path, { key, ...(body && { body }) })
    expect(answer.status, `${method} ${path}: ${answer.text}`).to.be.oneOf([200, 400, 403, 404, 409])
    return answer
  }

  const bodyOf: Record<Kind, (client: Client, isNew: boolean) => object> = {
    url: ({ ids }, isNew) => ({
      ...(isNew ? { url: `${long}${n}`, custom: `w-${n}` } : { url: `${long}${random(3)}` }),
      title: word(),
      ...(random(2) ? { tags: [word(), word()] } : {}),
      ...(random(3) ? {} : { notes: word() }),
      ...(random(4) ? {} : { archived: random(2) === 1 }),
      ...(random(3) ? {} : { campaign: pick(ids.campaign) ?? null }),
      ...(random(4) ? {} : { channel: pick(ids.channel) ?? null }),
      ...(random(4) ? {} : { pixels: ids.pixel.slice(-2) }),
    }),
    qr: (_, isNew) => ({
      ...(isNew ? { type: 'link' } : {}),
      data: `${long}${random(5)}`,
      name: word(),
      foreground: random(2) ? '#000000' : '#102030',
    }),
    bio: (_, isNew) => ({
      name: word(),
      ...(isNew || random(2) ? { links: [{ name: word(), url: `${long}${random(9)}` }] } : {}),
    }),
    campaign: () => ({ name: word(), public: random(2) === 1 }),
    channel: () => ({ name: word(), starred: random(2) === 1 }),
    overlay: (_, isNew) => ({ ...(isNew ? { type: 'message' } : {}), name: word(), message: word() }),
    splash: () => ({ name: word(), title: word() }),
    pixel: (_, isNew) => ({ ...(isNew ? { type: 'bing' } : {}), name: word(), tag: `abc${random(9)}` }),
    domain: (_, isNew) => ({
      ...(isNew ? { domain: `https://w${n}.example` } : {}),
      redirectroot: `${long}${random(9)}`,
    }),
    key: () => ({ name: word(), scopes: ['read'] }),
    webhook: () => ({ name: word(), url: `${long}hook`, events: ['LinkDeleted'] }),
  }

  const add = async (client: Client, kind: Kind) => {
    n++
    const { json } = await send(client, 'POST', `/api/${kind}/add`, bodyOf[kind](client, true))
    const id = Number(json['id'])
    if (!id) return
    client.ids[kind].push(id)
    const shown = json[kind === 'url' ? 'shorturl' : 'link'] as string | undefined
    if (shown) client[kind === 'qr' ? 'codes' : 'aliases'].push(new URL(shown).pathname)
  }
  const change = async (client: Client, kind: Kind) => {
    const id = pick(client.ids[kind])
    if (id === undefined) return add(client, kind)
    if (random(5) > 0 || kind === 'key')
      await send(client, 'PUT', `/api/${kind}/${id}/update`, bodyOf[kind](client, false))
    else await send(client, 'DELETE', `/api/${kind}/${id}/delete`)
  }
  const assign = async (client: Client) => {
    const channel = pick(client.ids.channel)
    const type = pick(['links', 'bio', 'qr'] as const) ?? 'links'
    const item = pick(client.ids[type === 'links' ? 'url' : type])
    if (channel === undefined || item === undefined) return
    await send(client, random(3) ? 'POST' : 'DELETE', `/api/channel/${channel}/assign/${type}/${item}`)
  }
  const visit = async ({ aliases, codes }: Client) => {
    const path = random(4) ? pick(aliases) : `${pick(codes) ?? ''}/go`
    const agent = random(5) ? browser : 'Googlebot/2.1'
    const entry = random(6) ? '' : '/1'
    if (path)
      await app().ask('GET', `${path}${entry}`, {
        headers: { 'User-Agent': agent, Referer: `https://${word()}.example/` },
      })
  }

  /** Brings back what was deleted, or an earlier version of what is there. */
  const restore = async (client: Client) => {
    const kind = pick(kinds) ?? 'url'
    const id = pick(client.ids[kind])
    if (id === undefined) return
    const body = random(2) ? {} : { revision: random(3) }
    await send(client, 'POST', `/api/${kind}/${id}/restore`, body)
  }
  const reclassified: string[] = []
  /** Changes what counts as a click, and takes that back again. */
  const reclassify = async (client: Client) => {
    const undo = random(2) ? reclassified.pop() : undefined
    if (undo !== undefined) return void (await send(client, 'POST', '/api/account/reclassify', { undo }))
    await send(client, 'PUT', '/api/account/exclusions', { agents: random(2) ? ['mozilla'] : [], hours: [random(24)] })
    const { json } = await send(client, 'POST', '/api/account/reclassify', {})
    if (json['id']) reclassified.push(json['id'] as string)
  }

  const step = async () => {
    const client = pick(clients)!
    const what = random(24)
    if (what < 12) return visit(client)
    if (what < 14) return assign(client)
    if (what === 14) return restore(client)
    if (what === 15) return reclassify(client)
    const kind = random(2) ? 'url' : (pick(kinds) ?? 'url')
    return random(3) ? change(client, kind) : add(client, kind)
  }

  /** Paths of GETs: lists with all kinds of filters, and some details. */
  const paths = ({ ids }: Client): string[] => {
    const period = 'from=2020-01-01&to=2100-01-01&interval=month'
    const lists = [
      '/api/account',
      '/api/urls',
      '/api/urls?archived=all&limit=5&page=2',
      '/api/urls?order=click',
      '/api/urls?order=oldest&limit=3&cursor=',
      `/api/urls?q=${word()}`,
      `/api/urls?tag=${word()}`,
      `/api/urls?campaign=${pick(ids.campaign) ?? 1}`,
      `/api/urls?channel=${pick(ids.channel) ?? 1}`,
      `/api/urls?short=w-${1 + random(n + 1)}`,
      '/api/tags',
      '/api/qr',
      '/api/bio',
      '/api/campaigns',
      '/api/channels',
      '/api/overlay',
      '/api/splash',
      '/api/pixels',
      '/api/domains',
      '/api/keys?fields=name,key,scopes,date',
      `/api/account/stats?${period}&by=country,referrer`,
      '/api/account/stats?by=source',
      '/api/account/exclusions',
      '/api/account/totp',
      '/api/account/history?deleted=true',
      `/api/account/history?q=${word()}`,
      '/api/webhooks?fields=id,name,url,events',
    ]
    const details = kinds.flatMap((kind) => {
      const id = pick(ids[kind])
      const history = `/api/${kind}/${id}/history?limit=9`
      if (id === undefined) return []
      if (['pixel', 'key', 'webhook'].includes(kind)) return [history]
      const more: Partial<Record<Kind, readonly string[]>> = {
        url: [
          `/api/url/${id}/stats?${period}&by=browser`,
          `/api/url/${id}/stats?interval=hour`,
          `/api/url/${id}/revisions`,
        ],
        qr: [`/api/qr/${id}/image?format=svg`],
        overlay: [`/api/overlay/${id}/answers`],
      }
      return [`/api/${kind}/${id}`, history, ...(more[kind] ?? [])]
    })
    return [...lists, ...details, '/api/account/history']
  }

  /** Saves answers to many GETs. What changes with each answer, a cursor, is left out. */
  const save = async (most = 40): Promise<readonly Saved[]> => {
    const client = pick(clients)!
    const all = paths(client)
    while (all.length > most) all.splice(random(all.length), 1)
    const saved: Saved[] = []
    for (const path of all) {
      const { status, text, headers } = await app().get(path, { key: client.key })
      const at = headers.get('Linkledger-At') ?? ''
      if (status === 200) expect(at, path).to.match(/^domain=\d+, clicks=\d+(, to=\S+Z)?$/)
      // while the tables lag, parts of a response are newer: it is not of a single moment, and says so
      if (at !== '' && !headers.has('X-Projection-Pending'))
        saved.push({ path, key: client.key, status, text: withoutCursor(text), at })
    }
    return saved
  }

  return { step, save, clients }
}

/** Cursors are sealed, and so differ each time. */
const withoutCursor = (text: string) => text.replaceAll(/"next_cursor":"[^"]*"/g, '"next_cursor":""')

/** Returns how many of the saved answers are different now. */
export const countChanged = async (app: Pick<TestApp, 'get'>, saved: readonly Saved[]): Promise<number> => {
  let changed = 0
  for (const { path, key, text } of saved) if (withoutCursor((await app.get(path, { key })).text) !== text) changed++
  return changed
}

/** Expects the saved answers to be given again, byte by byte. */
export const expectSame = async (app: Pick<TestApp, 'get'>, saved: readonly Saved[]) => {
  for (const { path, key, status, text, at } of saved) {
    const again = await app.get(withAt(path, at), { key })
    expect(withoutCursor(again.text), `${path} at ${at}`).to.equal(text)
    expect(again.status, path).to.equal(status)
    expect(again.headers.get('Linkledger-At'), path).to.equal(at)
  }
}
