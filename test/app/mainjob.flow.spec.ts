import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import topUserAgents from 'top-user-agents'
import { bots, previews } from '../data/agents.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { note, randomFrom, repeatable, seed } from '../support/faults.ts'

const require = createRequire(import.meta.url)
const urls = readFileSync(new URL('../data/urls.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')

/** What ten thousand browsers seen on the web call themselves, and the hundred most common ones. */
const agents = (() => {
  const file = join(dirname(require.resolve('user-agents')), 'user-agents.json')
  const profiles = JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly userAgent: string }[]
  return [...new Set([...profiles.map(({ userAgent }) => userAgent), ...topUserAgents])]
})()

/** How a person would read them, the first that fits; an app's window is the browser that draws it. */
const browserNames: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOP[RXT]\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bYaBrowser\//, 'Yandex Browser'],
  [/\bDdg\//, 'DuckDuckGo'],
  [/\bElectron\//, 'Electron'],
  [/\bGSA\//, 'Google Search'],
  [/\b(FxiOS|Firefox)\//, 'Firefox'],
  [/\b(CriOS|Chrome)\//, 'Chrome'],
  [/\bAppleWebKit\//, 'Safari'],
]
const systemNames: readonly (readonly [RegExp, string])[] = [
  [/Windows NT/, 'Windows'],
  [/iPhone|iPad|iPod/, 'iOS'],
  [/Android/, 'Android'],
  [/CrOS/, 'Chrome OS'],
  [/Macintosh/, 'macOS'],
  [/Linux/, 'Linux'],
]
const named = (names: typeof browserNames, agent: string) => names.find(([pattern]) => pattern.test(agent))?.[1] ?? '?'

/** Public addresses of name servers, universities, broadcasters and providers, and where they are. */
const addresses: readonly (readonly [address: string, country: string])[] = [
  ['8.8.8.8', 'United States'],
  ['9.9.9.9', 'United States'],
  ['2606:4700:4700::1111', 'United States'],
  ['2001:4860:4860::8888', 'United States'],
  ['24.48.0.1', 'Canada'],
  ['81.2.69.142', 'United Kingdom'],
  ['212.58.244.20', 'United Kingdom'],
  ['133.1.0.1', 'Japan'],
  ['202.12.27.33', 'Japan'],
  ['193.99.144.85', 'Germany'],
  ['2a02:2e0:3fe:1001:302::', 'Germany'],
  ['91.198.174.192', 'Netherlands'],
  ['2001:67c:2e8:22::c100:68b', 'Netherlands'],
  ['2a00:1450:4001::1', 'Ireland'],
  ['62.210.16.6', 'France'],
  ['80.67.169.12', 'France'],
  ['130.59.31.24', 'Switzerland'],
  ['151.1.1.1', 'Italy'],
  ['194.179.1.100', 'Spain'],
  ['193.166.4.49', 'Finland'],
  ['130.244.127.161', 'Sweden'],
  ['77.88.8.8', 'Russia'],
  ['200.160.2.3', 'Brazil'],
  ['200.10.60.1', 'Uruguay'],
  ['139.130.4.5', 'Australia'],
  ['168.95.1.1', 'Taiwan'],
  ['164.124.101.2', 'South Korea'],
  ['114.114.114.114', 'China'],
  ['196.25.1.1', 'South Africa'],
  ['41.204.160.1', 'Kenya'],
  ['10.0.0.7', 'Unknown'],
]

/** What browsers send as Referer, which site that is, and which network. */
type Network = 'facebook' | 'twitter' | 'google'
const referrers: readonly (readonly [header: string, site: string, network?: Network])[] = [
  ['', 'Direct'],
  ['https://www.google.com/', 'google.com', 'google'],
  ['https://www.google.de/', 'google.de', 'google'],
  ['https://www.google.co.uk/search?q=short+links', 'google.co.uk', 'google'],
  ['https://t.co/Ab12Cd34Ef', 'twitter.com', 'twitter'],
  ['https://x.com/', 'x.com', 'twitter'],
  ['https://l.facebook.com/l.php?u=https%3A%2F%2Fexample.com%2Fa&h=AT0', 'facebook.com', 'facebook'],
  ['https://m.facebook.com/', 'facebook.com', 'facebook'],
  ['http://lm.facebook.com/', 'facebook.com', 'facebook'],
  ['https://www.instagram.com/', 'instagram.com'],
  ['https://l.instagram.com/?u=https%3A%2F%2Fexample.com', 'instagram.com'],
  ['https://www.reddit.com/r/programming/comments/1abcde/title/', 'reddit.com'],
  ['https://out.reddit.com/t3_1abcde?url=https%3A%2F%2Fexample.com', 'reddit.com'],
  ['https://lnkd.in/dAbCdEf', 'linkedin.com'],
  ['https://www.linkedin.com/feed/', 'linkedin.com'],
  ['https://www.youtube.com/redirect?q=https%3A%2F%2Fexample.com', 'youtube.com'],
  ['https://news.ycombinator.com/item?id=40000000', 'news.ycombinator.com'],
  ['https://www.bing.com/', 'bing.com'],
  ['https://duckduckgo.com/', 'duckduckgo.com'],
  ['https://en.m.wikipedia.org/wiki/URL_shortening', 'en.m.wikipedia.org'],
  ['https://github.com/nodejs/node/issues/1', 'github.com'],
  ['https://www.xn--bcher-kva.example/katalog?seite=2', 'xn--bcher-kva.example'],
  ['android-app://com.google.android.gm/', 'mail.google.com', 'google'],
  ['android-app://org.telegram.messenger/', 'telegram.org'],
]

/** What browsers send as Accept-Language, and the language that is meant. */
const languages: readonly (readonly [header: string, language: string])[] = [
  ['en-US,en;q=0.9', 'en'],
  ['en-GB,en-US;q=0.9,en;q=0.8', 'en'],
  ['de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', 'de'],
  ['de,en-US;q=0.7,en;q=0.3', 'de'],
  ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
  ['pt-BR,pt;q=0.9', 'pt'],
  ['es-419,es;q=0.9', 'es'],
  ['zh-TW,zh;q=0.9,en-US;q=0.8', 'zh'],
  ['ja', 'ja'],
  ['ru-RU,ru;q=0.8,en-US;q=0.5,en;q=0.3', 'ru'],
  ['*', ''],
]

interface Link {
  readonly id: number
  readonly path: string
  readonly url: string
}
interface Visit {
  readonly path: string
  readonly method: 'GET' | 'HEAD'
  readonly headers: Readonly<Record<string, string>>
}

/** Labels and how often each was met. */
type Counts = Map<string, number>
const countIn = (counts: Counts, label: string) => counts.set(label, (counts.get(label) ?? 0) + 1)
const sum = (counts: Iterable<number>) => [...counts].reduce((a, b) => a + b, 0)

/** What the statistics of a link have to be, told from nothing but what its visitors sent. */
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

/** Ten labels at most, most first, each with its own count; which of equals stand at the end is free. */
const expectTop = (shown: Readonly<Record<string, string>>, counts: Counts, what: string) => {
  const most = [...counts.values()].sort((a, b) => b - a).slice(0, 10)
  expect(Object.values(shown), what).to.deep.equal(most.map(String))
  for (const [label, n] of Object.entries(shown)) expect(n, `${what} ${label}`).to.equal(String(counts.get(label)))
}

/** Does all of it, so many at once. */
const eachOf = async <T>(items: readonly T[], atOnce: number, task: (item: T) => Promise<unknown>) => {
  const left = items.values()
  const worker = async () => {
    for (const item of left) await task(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

describe(`the main job on real input (${repeatable})`, function () {
  this.timeout(120_000)
  const random = randomFrom(seed)
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!

  let app: TestApp
  let key: string
  const links: Link[] = []
  const models = new Map<number, ReturnType<typeof emptyModel>>()
  const [classes, spoken]: [Counts, Counts] = [new Map(), new Map()]
  let [people, visits] = [0, 0]

  /** A person comes, and the model counts. Some have been there before; some forge the header that the proxy adds to. */
  const person = ({ id, path }: Link, known: (readonly [string, string, string])[]): Visit => {
    const model = models.get(id)!
    const isBack = known.length > 0 && random(4) === 0
    const who = isBack ? pick(known) : ([...pick(addresses), agents[people++ % agents.length]!] as const)
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

  /** A program comes, or a browser that only looks ahead: a visit perhaps, no click. */
  const nobody = ({ path }: Link): Visit => {
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

  it(`makes a short link of each of ${urls.length} addresses`, async () => {
    await eachOf(urls, 16, async (line) => {
      const { status, json } = await app.post('/api/url/add', { key, body: { url: line } })
      expect([status, json['error']], line).to.deep.equal([200, 0])
      const { id, shorturl } = json as { id: number; shorturl: string }
      expect(shorturl).to.match(new RegExp(`^${app.app.baseUrl}/[a-z0-9]{8}$`))
      links.push({ id, path: new URL(shorturl).pathname, url: new URL(line).href })
      models.set(id, emptyModel())
    })
    expect(new Set(links.map(({ path }) => path)).size).to.equal(urls.length)
  })

  it('sends every visitor to exactly the address', async () => {
    const journeys = links.flatMap((link, rank) => {
      const known: (readonly [string, string, string])[] = []
      const persons = Array.from({ length: 1 + Math.floor(160 / (rank + 1)) }, () => person(link, known))
      const others = Array.from({ length: rank < 20 ? 8 : random(2) }, () => nobody(link))
      return [...persons, ...others].map((visit) => ({ link, visit }))
    })
    await eachOf(journeys, 16, async ({ link, visit: { path, method, headers } }) => {
      const { status, headers: answered } = await app.ask(method, path, { headers })
      expect([status, answered.get('Location')], `${method} ${path}`).to.deep.equal([302, link.url])
    })
    expect(people, 'each user agent has come').to.be.at.least(agents.length)
    visits = sum(classes.values())
    note(`${journeys.length} requests by ${agents.length} user agents: ${JSON.stringify(Object.fromEntries(classes))}`)
  })

  it('lists every link with its address and its clicks, the most clicked first', async () => {
    const clicks = sum([...models.values()].map((model) => model.clicks))
    const { json } = await until(
      () => app.get('/api/urls?limit=1000&order=click', { key }),
      ({ json: { data } }) => sum((data.urls as { clicks: number }[]).map((row) => row.clicks)) >= clicks,
      60_000,
    )
    const rows = json['data'].urls as { id: number; longurl: string; clicks: number; uniqueclicks: number }[]
    const shown = rows.map(({ id, longurl, clicks: n, uniqueclicks }) => [id, longurl, n, uniqueclicks])
    const expected = links
      .map(({ id, url }) => ({ id, url, model: models.get(id)! }))
      .sort((a, b) => b.model.clicks - a.model.clicks || b.id - a.id)
      .map(({ id, url, model }) => [id, url, model.clicks, model.visitors.size])
    expect(json['data'].result).to.equal(urls.length)
    expect(shown).to.deep.equal(expected)
  })

  it('reads each link back with its counts, its tops and its networks', async () => {
    await eachOf(links, 16, async ({ id, path, url }) => {
      const { json } = await app.get(`/api/url/${id}`, { key })
      const model = models.get(id)!
      const { details, data } = json
      expect(details).to.include({ id, longurl: url, shorturl: app.app.baseUrl + path })
      expect([data.clicks, data.uniqueClicks], path).to.deep.equal([model.clicks, model.visitors.size])
      expect(data.socialCount).to.deep.equal(model.socialCount)
      for (const top of tops) expectTop(data[top], model[top], `${top} of ${url}`)
    })
  })

  it('has every visit in the log once, by whom it was and in which language', async () => {
    const [found, heard]: [Counts, Counts] = [new Map(), new Map()]
    const { store } = app.app.ledger
    const ended = new AbortController()
    const head = await store.head('clicks')
    for await (const events of store.subscribe({ after: 0n, filter: 'clicks', limit: 100, signal: ended.signal })) {
      for (const { data } of events.filter((event) => event.type === 'LinkClicked'))
        for (const click of data.clicks) {
          countIn(found, click.class)
          countIn(heard, click.language)
        }
      if (events.at(-1)!.position >= head) ended.abort()
    }
    expect(sum(found.values())).to.equal(visits)
    expect(Object.fromEntries(found)).to.deep.equal(Object.fromEntries(classes))
    expect(Object.fromEntries(heard)).to.deep.equal(Object.fromEntries(spoken))
  })
})
