import { Agent, request as httpRequest } from 'node:http'
import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Ask, browser, type client, until } from './client.ts'

type Client = Pick<ReturnType<typeof client>, 'post' | 'get' | 'visit'>

export interface LoadRequest extends Pick<Ask, 'key' | 'body'> {
  readonly method: string
  readonly path: string
}
/** A request and its response; without a status it was never answered. */
export interface Sent<W extends LoadRequest = LoadRequest> {
  readonly request: W
  /** ms, as Date.now() counts */
  readonly began: number
  readonly ended: number
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/**
 * Starts `workers` clients, each with a connection that it keeps. Each sends one request after the other, `pause` ms
 * apart, until the load is stopped. All responses are kept.
 */
export const startLoad = <W extends LoadRequest>(
  address: string,
  workers: number,
  next: (n: number) => W,
  pause = 0,
) => {
  const agent = new Agent({ keepAlive: true, maxSockets: workers })
  const sent: Sent<W>[] = []
  let [asked, running] = [0, true]

  const ask = (request: W) =>
    new Promise<Sent<W>>((resolve) => {
      const began = Date.now()
      const body = request.body === undefined ? undefined : JSON.stringify(request.body)
      const headers = {
        'User-Agent': browser,
        ...(request.key === undefined ? {} : { Authorization: `Bearer ${request.key}` }),
        ...(body === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      }
      const unanswered = () => resolve({ request, began, ended: Date.now(), status: undefined, headers: {}, text: '' })
      httpRequest(address + request.path, { method: request.method, agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () =>
          resolve({ request, began, ended: Date.now(), status: response.statusCode, headers: response.headers, text }),
        )
        response.on('error', unanswered)
      })
        .on('error', unanswered)
        .end(body)
    })

  const worker = async () => {
    while (running) {
      const answer = await ask(next(asked++))
      sent.push(answer)
      // without a server, retrying at once would only burn the processor
      if (pause > 0 || answer.status === undefined) await sleep(Math.max(pause, 10))
    }
  }
  const working = Promise.all(Array.from({ length: workers }, worker))
  return {
    sent,
    /** Waits until `count` responses of this kind have arrived from now on. */
    answers: async (
      count: number,
      kind: (sent: Sent<W>) => boolean = ({ status }) => status !== undefined,
      ms = 120_000,
    ) => {
      const from = sent.length
      const got = await until(
        async () => sent.slice(from).filter(kind).length,
        (n) => n >= count,
        ms,
      )
      expect(got, 'answers under load').to.be.at.least(count)
    },
    stop: async () => {
      running = false
      await working
      agent.destroy()
      return sent
    },
  }
}

export interface MadeLink {
  readonly id: number
  readonly alias: string
}
export const makeLinks = async ({ post }: Pick<Client, 'post'>, key: string, count: number): Promise<MadeLink[]> => {
  const made: MadeLink[] = []
  for (let n = 0; n < count; n++) {
    // on a busy machine, a service that has just started may not know a new account yet
    const { status, json, text } = await until(
      () => post('/api/url/add', { key, body: { url: `https://example.com/${n}` } }),
      (answer) => answer.status !== 503,
    )
    expect(status, text).to.equal(200)
    made.push({ id: Number(json['id']), alias: String(json['short']).split('/').at(-1)! })
  }
  return made
}

export interface VisitRequest extends LoadRequest {
  readonly link: number
}
/** Visits these links in a random order. */
export const visitsTo = (links: readonly MadeLink[], random: (below: number) => number) => (): VisitRequest => {
  const { id, alias } = links[random(links.length)]!
  return { method: 'GET', path: `/${alias}`, link: id }
}

const listedBy = async ({ get }: Pick<Client, 'get'>, key: string) => {
  const rows: Answer['json'][] = []
  for (let page = 1; ; page++) {
    const { status, json } = await get(`/api/urls?limit=1000&page=${page}`, { key })
    expect(status, 'the list').to.equal(200)
    rows.push(...(json['data'].urls as Answer['json'][]))
    if (json['data'].maxpage <= page) return { rows, result: Number(json['data'].result) }
  }
}
export const listed = async (service: Pick<Client, 'get'>, key: string) => (await listedBy(service, key)).rows

/**
 * Follows one more link and waits until its click is counted. Clicks keep their order, so all earlier ones are counted
 * then.
 */
export const allCounted = async (service: Client, key: string) => {
  const [last] = await makeLinks(service, key, 1)
  expect((await service.visit(`/${last!.alias}`)).status).to.equal(302)
  const { json } = await until(
    () => service.get(`/api/url/${last!.id}`, { key }),
    (answer) => answer.json['data']?.clicks === 1,
    120_000,
  )
  expect(json['data'].clicks, 'the last click').to.equal(1)
}

/** Expects each link's clicks to be the 302s that its visitors got; an unanswered visit may be counted or not. */
export const expectExactClicks = async (service: Client, key: string, visits: readonly Sent<VisitRequest>[]) => {
  await allCounted(service, key)
  const counts = new Map((await listed(service, key)).map((row) => [Number(row['id']), Number(row['clicks'])]))
  const links = new Set(visits.map(({ request }) => request.link))
  for (const link of links) {
    const mine = visits.filter(({ request }) => request.link === link)
    const answered = mine.filter(({ status }) => status === 302).length
    const unanswered = mine.filter(({ status }) => status === undefined).length
    expect(counts.get(link), `clicks of link ${link}`).to.be.within(answered, answered + unanswered)
  }
}

export interface BioRequest extends LoadRequest {
  readonly bio: number
  /** 0 for the page itself */
  readonly entry: number
}
/** Creates a bio page with two entries; returns its id and what visits the page and the entries in a random order. */
export const makeBio = async ({ post }: Pick<Client, 'post'>, key: string, random: (below: number) => number) => {
  const links = ['one', 'two'].map((title) => ({ title, url: `https://${title}.example/` }))
  const { status, json } = await post('/api/bio/add', { key, body: { name: 'Ann', links } })
  expect(status).to.equal(200)
  const [bio, { pathname }] = [Number(json['id']), new URL(String(json['link']))]
  return (): BioRequest => {
    const entry = random(3)
    return { method: 'GET', path: entry === 0 ? pathname : `${pathname}/${entry}`, bio, entry }
  }
}

/**
 * Expects the views of bio pages and the clicks on their entries to be what visitors got; an unanswered visit may be
 * counted or not.
 */
export const expectExactEntries = async (service: Client, key: string, visits: readonly Sent<BioRequest>[]) => {
  await allCounted(service, key)
  for (const bio of new Set(visits.map(({ request }) => request.bio))) {
    const { json } = await service.get(`/api/bio/${bio}`, { key })
    const entries = new Map((json['details'].links as Answer['json'][]).map(({ id, clicks }) => [id, clicks]))
    for (const entry of [0, 1, 2]) {
      const mine = visits.filter(({ request }) => request.bio === bio && request.entry === entry)
      const answered = mine.filter(({ status }) => status !== undefined).length
      const counted = entry === 0 ? (json['data'].views as unknown) : entries.get(entry)
      expect(counted, `entry ${entry} of bio page ${bio}`).to.be.within(answered, mine.length)
    }
  }
}
