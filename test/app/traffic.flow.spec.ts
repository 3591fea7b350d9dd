import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { readToHead } from '../../src/events/store.ts'
import { bots, previews } from '../data/agents.ts'
import { addresses, agents, browserNames, languages, named, referrers, systemNames } from '../data/visitors.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { long, note, randomFrom, repeatable, seed } from '../support/faults.ts'

/** Every sixth address, another sixth for each seed; in `npm run test:faults` all of them. */
const urls = readFileSync(new URL('../data/urls.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .filter((_, n) => long || n % 6 === seed % 6)

interface Link {
  readonly id: number
  readonly path: string
  /** as it was sent */
  readonly sent: string
  /** as browsers write it */
  readonly url: string
}
interface Visit {
  readonly path: string
  readonly method: 'GET' | 'HEAD'
  readonly headers: Readonly<Record<string, string>>
}

/** The number of occurrences of each label. */
type Counts = Map<string, number>
const countIn = (counts: Counts, label: string) => counts.set(label, (counts.get(label) ?? 0) + 1)
const sum = (counts: Iterable<number>) => [...counts].reduce((a, b) => a + b, 0)

/** Returns the statistics that a link must have, derived only from what its visitors sent. */
const emptyModel = () => ({
  clicks: 0,
  visitors: new Set<string>(),
  topCountries: new Map() as Counts,
  topReferrers: new Map() as Counts,
  topBrowsers: new Map() as Counts,
  topOs: new Map() as Counts,
  socialCount: { facebook: 0, twitter: 0, google: 0 },
})
const tops = ['topCountries', 'topReferrers', 'topBrowsers', 'topOs'] as const

/** Expects the ten most frequent labels with their counts; the order of equal counts is free. */
const expectTop = (shown: Readonly<Record<string, string>>, counts: Counts, what: string) => {
  const most = [...counts.values()].sort((a, b) => b - a).slice(0, 10)
  expect(Object.values(shown), what).to.deep.equal(most.map(String))
  for (const [label, n] of Object.entries(shown)) expect(n, `${what} ${label}`).to.equal(String(counts.get(label)))
}

/** Runs the task for each item, `atOnce` of them in parallel. */
const eachOf = async <T>(items: readonly T[], atOnce: number, task: (item: T) => Promise<unknown>) => {
  const left = items.values()
  const worker = async () => {
    for (const item of left) await task(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

describe(`shortening real addresses and counting realistic visits (${repeatable})`, function () {
  this.timeout(300_000)
  const random = randomFrom(seed)
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!

  let app: TestApp
  let key: string
  const links: Link[] = []
  const models = new Map<number, ReturnType<typeof emptyModel>>()
  const [classes, spoken]: [Counts, Counts] = [new Map(), new Map()]
  let [people, visits] = [0, 0]
  /** the user agent of the first person; each further one has the next */
  const first = random(agents.length)

  /**
   * Returns the visit of a person and adds it to the model. Some have visited before, and some forge X-Forwarded-For.
   */
  const person = ({ id, path }: Link, known: (readonly [string, string, string])[]): Visit => {
    const model = models.get(id)!
    const isBack = known.length > 0 && random(4) === 0
    const who = isBack ? pick(known) : ([...pick(addresses), agents[(first + people++) % agents.length]!] as const)
    const [address, country, agent] = who
    known.push(who)
    const [referrer, site, network] = pick(referrers)
    const [language, meant] = pick(languages)
    model.clicks++
    model.visitors.add(`${address} ${agent}`)
    countIn(model.topCountries, country)
    countIn(model.topReferrers, site)
    countIn(model.topBrowsers, named(browserNames, agent))
    countIn(model.topOs, named(systemNames, agent))
    if (network) model.socialCount[network]++
    countIn(classes, 'human')
    countIn(spoken, meant)
    const headers = {
      'User-Agent': agent,
      'Accept-Language': language,
      'X-Forwarded-For': random(10) === 0 ? `198.51.100.7, ${address}` : address,
      ...(referrer === '' ? {} : { Referer: referrer }),
    }
    return { path, method: 'GET', headers }
  }

  /** Returns a request that is no click: of a bot, a link preview, a prefetch, or a HEAD request. */
  const notPerson = ({ path }: Link): Visit => {
    const headers = { 'Accept-Language': '*', 'X-Forwarded-For': pick(addresses)[0] }
    const [kind, agent] = pick([
      ['bot', pick(bots)[1]],
      ['preview', pick(previews)[1]],
      ['prefetch', pick(agents)],
      ['head', pick(agents)],
    ] as const)
    if (kind === 'head') return { path, method: 'HEAD', headers: { ...headers, 'User-Agent': agent } }
    countIn(classes, kind)
    countIn(spoken, '')
    const ahead = kind === 'prefetch' ? { 'Sec-Purpose': 'prefetch;prerender' } : {}
    return { path, method: 'GET', headers: { ...headers, ...ahead, 'User-Agent': agent } }
  }

  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1' })
    key = (await app.register('ann')).key
  })
  after(() => app.close())

  it(`creates a short link for each of ${urls.length} addresses`, async () => {
    await eachOf(urls, 6, async (line) => {
      const { status, json } = await app.post('/api/url/add', { key, body: { url: line } })
      expect([status, json['error']], line).to.deep.equal([200, 0])
      const { id, shorturl } = json as { id: number; shorturl: string }
      expect(shorturl).to.match(new RegExp(`^${app.app.baseUrl}/[a-z0-9]{8}$`))
      links.push({ id, path: new URL(shorturl).pathname, sent: line, url: new URL(line).href })
      models.set(id, emptyModel())
    })
    expect(new Set(links.map(({ path }) => path)).size).to.equal(urls.length)
  })

  it('redirects every visitor to exactly the address of the link', async () => {
    const journeys = links.flatMap((link, rank) => {
      const known: (readonly [string, string, string])[] = []
      const persons = Array.from({ length: 1 + Math.floor(160 / (rank + 1)) }, () => person(link, known))
      const others = Array.from({ length: rank < 20 ? 8 : random(2) }, () => notPerson(link))
      return [...persons, ...others].map((visit) => ({ link, visit }))
    })
    await eachOf(journeys, 16, async ({ link, visit: { path, method, headers } }) => {
      const { status, headers: answered } = await app.ask(method, path, { headers })
      expect([status, answered.get('Location')], `${method} ${path}`).to.deep.equal([302, link.url])
    })
    expect(people, 'user agents that have visited').to.be.at.least(long ? agents.length : agents.length / 2)
    visits = sum(classes.values())
    note(
      `${journeys.length} requests by ${Math.min(people, agents.length)} user agents: ${JSON.stringify(Object.fromEntries(classes))}`,
    )
  })

  it('lists every link with its address and click counts, the most clicked first', async () => {
    const clicks = sum([...models.values()].map((model) => model.clicks))
    const { json } = await until(
      () => app.get('/api/urls?limit=1000&order=click', { key }),
      ({ json: { data } }) => sum((data.urls as { clicks: number }[]).map((row) => row.clicks)) >= clicks,
      60_000,
    )
    const rows = json['data'].urls as { id: number; longurl: string; clicks: number; uniqueclicks: number }[]
    const shown = rows.map(({ id, longurl, clicks: n, uniqueclicks }) => [id, longurl, n, uniqueclicks])
    const expected = links
      .map(({ id, sent }) => ({ id, sent, model: models.get(id)! }))
      .sort((a, b) => b.model.clicks - a.model.clicks || b.id - a.id)
      .map(({ id, sent, model }) => [id, sent, model.clicks, model.visitors.size])
    expect(json['data'].result).to.equal(urls.length)
    expect(shown).to.deep.equal(expected)
  })

  it('returns the counts, top lists and social networks of each link', async () => {
    await eachOf(links, 16, async ({ id, path, sent, url }) => {
      const { json } = await app.get(`/api/url/${id}`, { key })
      const model = models.get(id)!
      const { details, data } = json
      expect(details).to.include({ id, longurl: sent, shorturl: app.app.baseUrl + path })
      expect([data.clicks, data.uniqueClicks], path).to.deep.equal([model.clicks, model.visitors.size])
      expect(data.socialCount).to.deep.equal(model.socialCount)
      for (const top of tops) expectTop(data[top], model[top], `${top} of ${url}`)
    })
  })

  it('stores every visit in the log once, with its class and language', async () => {
    const [found, languages]: [Counts, Counts] = [new Map(), new Map()]
    const { store } = app.app.ledger
    for await (const events of readToHead(store, { after: 0n, filter: 'clicks', limit: 100 }))
      for (const { data } of events.filter((event) => event.type === 'LinkClicked'))
        for (const click of data.clicks) {
          countIn(found, click.class)
          countIn(languages, click.language)
        }
    expect(sum(found.values())).to.equal(visits)
    expect(Object.fromEntries(found)).to.deep.equal(Object.fromEntries(classes))
    expect(Object.fromEntries(languages)).to.deep.equal(Object.fromEntries(spoken))
  })
})
