import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { browser, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'

const agents = {
  chrome: browser,
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
  safari:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  edge: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0',
  android:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
}
const robots = {
  Googlebot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  GPTBot: 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  Facebook: 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  Twitter: 'Twitterbot/1.0',
  Slack: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  WhatsApp: 'WhatsApp/2.23.20.0',
}
const assistant = 'Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)'
const [canada, britain, states, states6] = ['24.48.0.1', '81.2.69.142', '8.8.8.8', '2001:4860:4860::8888']

interface From {
  readonly address?: string
  readonly agent?: string
  readonly referrer?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

describe('link statistics', () => {
  let app: TestApp
  let key: string
  const add = async (body: object = {}) => {
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', ...body } })
    const { id, short } = json as { id: number; short: string }
    const { pathname } = new URL(short)
    const visit = ({ address = canada, agent = agents.chrome, referrer, headers = {}, method = 'GET' }: From = {}) =>
      app.ask(method, pathname, {
        headers: {
          'X-Forwarded-For': address,
          'User-Agent': agent,
          ...(referrer === undefined ? {} : { Referer: referrer }),
          ...headers,
        },
      })
    const statistics = async () => (await app.get(`/api/url/${id}`, { key })).json['data']
    /** Waits until `clicks` clicks are counted, and returns the statistics. Visits are counted in their order. */
    const after = async (clicks: number) => {
      await until(statistics, (data) => data.clicks >= clicks)
      // read again: the parts of a response are not read at the same moment
      const data = await statistics()
      expect(data.clicks).to.equal(clicks)
      return data
    }
    return { id, path: pathname, visit, after }
  }

  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1' })
    key = (await app.register()).key
  })
  after(() => app.close())

  it('count every click, and each pair of address and browser as one visitor', async () => {
    const { id, visit, after } = await add()
    for (let i = 0; i < 3; i++) await visit()
    expect(await after(3)).to.include({ uniqueClicks: 1 })
    await visit({ address: britain })
    await visit({ agent: agents.firefox })
    await visit({ address: britain })
    expect(await after(6)).to.include({ uniqueClicks: 3 })
    const { json } = await app.get('/api/urls?limit=1', { key })
    expect(json['data'].urls[0]).to.include({ id, clicks: 6, uniqueclicks: 3 })
  })

  it('count every click of a repeated visitor, and report excessive ones as suspects', async () => {
    const { id, visit, after } = await add()
    const [hits, atOnce] = [1000, 50]
    for (let sent = 0; sent < hits; sent += atOnce) await Promise.all(Array.from({ length: atOnce }, () => visit()))
    // none of these is a click
    await visit({ method: 'HEAD' })
    await visit({ headers: { 'Sec-Purpose': 'prefetch;prerender' } })
    await visit({ agent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' })
    const { json } = await until(
      () => app.get(`/api/url/${id}/stats`, { key }),
      (answer) => answer.json['data'].total.visits >= hits + 2,
    )
    const { total } = json['data']
    expect(total).to.include({ clicks: hits, uniqueClicks: 1, visits: hits + 2 })
    // thirty a minute are not suspect, and the visits may fall into several minutes
    expect(total.suspects).to.be.within(hits - 3 * 30, hits - 30)
    expect(await after(hits)).to.include({ uniqueClicks: 1 })
  })

  it('count a visitor of two links once for each', async () => {
    const [one, two] = [await add(), await add()]
    for (const { visit } of [one, two, one]) await visit()
    expect(await one.after(2)).to.include({ uniqueClicks: 1 })
    expect(await two.after(1)).to.include({ uniqueClicks: 1 })
  })

  it('list countries, referrers, browsers and systems by name, most clicks first, with counts as strings', async () => {
    const { visit, after } = await add()
    await visit({ agent: agents.safari, referrer: 'https://www.example.net/page?q=1' })
    await visit({ address: states, agent: agents.edge, referrer: 'https://www.example.net/' })
    await visit({ address: states6, agent: agents.edge })
    await visit({ address: states, agent: agents.edge })
    await visit({
      address: '192.168.1.1',
      agent: 'Mozilla/5.0 (Unheard; Of) Something/1.0',
      referrer: 'https://example.net:8443/',
    })
    await visit({ address: states, agent: agents.firefox })
    const data = await after(6)
    expect(Object.entries(data.topCountries)[0]).to.deep.equal(['United States', '4'])
    expect(data.topCountries).to.deep.equal({ 'United States': '4', Canada: '1', Unknown: '1' })
    expect(data.topReferrers).to.deep.equal({ Direct: '3', 'example.net': '3' })
    expect(data.topBrowsers).to.deep.equal({ Edge: '3', Firefox: '1', Safari: '1', 'Unknown Browser': '1' })
    expect(data.topOs).to.deep.equal({ macOS: '3', iOS: '1', Linux: '1', 'Unknown OS': '1' })
  })

  it('list at most ten of each', async () => {
    const { visit, after } = await add()
    const sites = Array.from({ length: 12 }, (_, i) => `site${i}.example`)
    const visits = sites.flatMap((site, i) => Array.from({ length: 13 - i }, () => site))
    await Promise.all(visits.map((site) => visit({ referrer: `https://${site}/` })))
    const { topReferrers } = await after(visits.length)
    expect(Object.entries(topReferrers)).to.deep.equal(sites.slice(0, 10).map((site, i) => [site, String(13 - i)]))
  })

  it('recognise a site by its hosts, apps and link shims, and count social networks', async () => {
    const { visit, after } = await add()
    for (const referrer of [
      'https://l.facebook.com/l.php?u=x',
      'https://m.facebook.com/',
      'https://lm.facebook.com/l.php',
      'https://fb.me/x',
      'https://t.co/abc',
      'https://x.com/',
      'https://out.reddit.com/x',
      'https://www.google.co.uk/',
      'https://google.com/',
    ])
      await visit({ referrer })
    const { topReferrers, socialCount } = await after(9)
    expect(topReferrers).to.deep.equal({
      'facebook.com': '3',
      'fb.me': '1',
      'twitter.com': '1',
      'x.com': '1',
      'reddit.com': '1',
      'google.co.uk': '1',
      'google.com': '1',
    })
    expect(socialCount).to.deep.equal({ facebook: 4, twitter: 2, google: 2 })
  })

  it('count visitors without a referrer, or from an own address, as direct', async () => {
    const { path, visit, after } = await add()
    for (const referrer of [undefined, '', 'nonsense', 'about:blank', `${app.app.baseUrl}${path}`])
      await visit(referrer === undefined ? {} : { referrer })
    expect((await after(5)).topReferrers).to.deep.equal({ Direct: '5' })
  })

  describe('visits that are recorded but not counted', () => {
    const ahead = [
      { 'Sec-Purpose': 'prefetch' },
      { 'Sec-Purpose': 'prefetch;prerender' },
      { Purpose: 'prefetch' },
      { 'X-Moz': 'prefetch' },
      { 'X-Purpose': 'preview' },
    ]

    it('are those of bots, previewers, assistants and prefetches', async () => {
      const { id, visit, after } = await add()
      for (const agent of Object.values(robots)) expect((await visit({ agent })).status).to.equal(302)
      for (const headers of ahead) expect((await visit({ headers })).status).to.equal(302)
      expect((await visit({ agent: assistant })).status).to.equal(302)
      await visit({ agent: agents.firefox })
      const data = await after(1)
      expect(data).to.include({ uniqueClicks: 1 })
      expect(data.topBrowsers).to.deep.equal({ Firefox: '1' })
      const events = await query<{ data: { clicks: { link: number; class: string }[] } }>(
        app.connection,
        `select data from log.events where type = 'LinkClicked' order by position`,
      )
      const classes = events.flatMap(({ data }) =>
        data.clicks.flatMap((click) => (click.link === id ? click.class : [])),
      )
      expect(classes).to.have.length(Object.keys(robots).length + ahead.length + 2)
      expect(classes.slice(0, 2)).to.deep.equal(['bot', 'bot'])
      expect(classes.slice(2, 6)).to.deep.equal(Array(4).fill('preview'))
      expect(classes.slice(6)).to.deep.equal([...Array(5).fill('prefetch'), 'assistant', 'human'])
    })

    it('become one click when a prefetched link is followed', async () => {
      const { visit, after } = await add()
      await visit({ headers: ahead[0]! })
      await visit()
      expect(await after(1)).to.include({ uniqueClicks: 1 })
    })
  })

  it('are filtered by properties of visitors, and report how complete they are', async () => {
    const { id, visit, after } = await add()
    await visit({ referrer: 'https://example.net/' })
    await visit({ agent: robots.GPTBot })
    await visit({ address: britain, agent: agents.firefox })
    await visit({ address: britain, agent: agents.android, referrer: 'https://example.net/' })
    await after(3)
    const ask = async (query: string) => (await app.get(`/api/stats?link=${id}&${query}`, { key })).json['data']
    const british = await ask('country=GB&by=browser,referrer,link,class&compare=before')
    expect(british.total).to.deep.equal({ clicks: 2, uniqueClicks: 2, visits: 2 })
    expect(british.by.referrer).to.have.deep.members([
      { value: 'none', name: 'Direct', count: 1 },
      { value: 'example.net', name: 'example.net', count: 1 },
    ])
    expect(british.by.link).to.have.length(1)
    expect(british.by.link[0]).to.include({ value: String(id), count: 2 })
    expect(british.before.total).to.deep.equal({ clicks: 0, uniqueClicks: 0, visits: 0 })
    expect(british.through).to.include({ behind: 0 })
    expect(british.through.event).to.be.a('number')
    expect((await ask('country=united kingdom,none&referrer=none')).total.clicks).to.equal(1)
    expect((await ask('class=bot&by=country')).by.country).to.deep.equal([{ value: 'CA', name: 'Canada', count: 1 }])
    expect((await ask(`browser=x') or true--&rule=') or true--`)).total.visits).to.equal(0)
    expect((await ask('browser=Nothing')).total).to.deep.equal({ clicks: 0, uniqueClicks: 0, visits: 0 })
    for (const [query, problem] of [
      ['country=Atlantis', '`country` must be codes of countries'],
      ['class=ghost', '`class` must be one or more of human'],
      ['limit=5000', '`limit` must be a whole number from 1 to 1,000'],
      ['interval=hour&from=2020-01-01', '`interval` must be longer'],
    ] as const) {
      const { status, json } = await app.get(`/api/stats?${query}`, { key })
      expect([status, String(json['message']).slice(0, problem.length)]).to.deep.equal([400, problem])
    }
    const other = await app.register()
    expect((await app.get(`/api/stats?link=${id}`, { key: other.key })).status).to.equal(404)
    expect((await app.get(`/api/stats?by=link`, { key: other.key })).json['data'].by.link).to.deep.equal([])
  })

  it('are those of the items of a campaign or a channel, now and at an earlier event', async () => {
    const [in1, in2, out] = [await add(), await add(), await add()]
    const made = async (path: string, body: object) => Number((await app.post(path, { key, body })).json['id'])
    const campaign = await made('/api/campaign/add', { name: 'Spring' })
    const channel = await made('/api/channel/add', { name: 'Letters' })
    const code = await made('/api/qr/add', { type: 'link', data: 'https://example.com/' })
    for (const { id } of [in1, in2]) await app.post(`/api/campaign/${campaign}/assign/${id}`, { key })
    await app.post(`/api/channel/${channel}/assign/links/${in1.id}`, { key })
    await app.post(`/api/channel/${channel}/assign/qr/${code}`, { key })
    for (const { visit } of [in1, in1, in2, out]) await visit()
    await in1.visit({ address: britain, agent: agents.firefox })
    const image = (await app.get(`/api/qr/${code}`, { key })).json['details'].link as string
    await app.visit(`${new URL(image).pathname}/go`, { 'User-Agent': agents.chrome, 'X-Forwarded-For': canada })
    for (const [one, clicks] of [
      [in1, 3],
      [in2, 1],
      [out, 1],
    ] as const)
      await one.after(clicks)
    const ask = async (query: string) => (await app.get(`/api/stats?${query}`, { key })).json['data']
    await until(
      () => ask('by=link'),
      ({ by }) => by.link.some(({ value }: { value: string }) => value === `qr/${code}`),
    )
    const ofCampaign = await ask(`campaign=${campaign}&by=country,link&compare=before`)
    expect(ofCampaign.total).to.deep.equal({ clicks: 4, uniqueClicks: 3, visits: 4 })
    expect(
      ofCampaign.by.country.map(({ value, count }: { value: string; count: number }) => [value, count]),
    ).to.deep.equal([
      ['CA', 3],
      ['GB', 1],
    ])
    expect(ofCampaign.by.link.map(({ value }: { value: string }) => value)).to.deep.equal([
      String(in1.id),
      String(in2.id),
    ])
    expect(ofCampaign.before.total.clicks).to.equal(0)
    expect((await ask(`campaign=${campaign}&country=GB`)).total.clicks).to.equal(1)
    expect((await ask(`campaign=${campaign}&channel=${channel}`)).total.clicks).to.equal(3)
    expect((await ask(`campaign=${campaign}&link=${out.id}`)).total.clicks).to.equal(0)
    const ofChannel = await ask(`channel=${channel}&by=link`)
    expect(ofChannel.by.link.map(({ value, count }: { value: string; count: number }) => [value, count])).to.deep.equal(
      [
        [String(in1.id), 3],
        [`qr/${code}`, 1],
      ],
    )
    const { headers } = await app.get('/api/stats', { key })
    const then = headers.get('Linkledger-At') ?? `event:${ofChannel.through.event}`
    await app.del(`/api/url/${in1.id}/delete`, { key })
    expect((await ask(`campaign=${campaign}`)).total.clicks).to.equal(1)
    expect((await ask(`campaign=${campaign}&at=${encodeURIComponent(then)}`)).total.clicks).to.equal(4)
    const empty = await made('/api/campaign/add', { name: 'Nothing' })
    expect((await ask(`campaign=${empty}&by=country`)).total.visits).to.equal(0)
    const other = await app.register()
    for (const query of [`campaign=${campaign}`, `channel=${channel}`, 'campaign=999999'])
      expect((await app.get(`/api/stats?${query}`, { key: other.key })).status, query).to.equal(404)
    expect((await app.get('/api/stats?campaign=x', { key })).json['message']).to.include('`campaign` must be an id')
  })

  it('are listed one by one behind each figure, with where each was sent and its receipt', async () => {
    const { id, visit } = await add({ geotarget: [{ location: 'Canada', link: 'https://example.com/ca' }] })
    const qr = (
      await app.post('/api/qr/add', { key, body: { type: 'link', data: 'https://example.com/poster', name: 'Poster' } })
    ).json
    for (const address of [canada, britain, states]) await visit({ address, referrer: 'https://x.com/' })
    await visit({ address: britain, agent: robots.Googlebot })
    await app.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.org/new' } })
    await visit({ address: britain })
    const visits = async (filters: string, headers = {}) => app.get(`/api/visits?${filters}`, { key, headers })
    const rows = async (filters: string) => (await visits(filters)).json['data'].visits as Record<string, unknown>[]
    await until(
      () => visits(`link=${id}`),
      ({ json }) => json['data'].result === 5,
    )
    const all = await rows(`link=${id}`)
    expect(all.map((row) => [row['destination'], row['rule'], row['revision'], row['class']])).to.deep.equal([
      ['https://example.org/new', 'link', 1, 'human'],
      ['https://example.com/', 'link', 0, 'bot'],
      ['https://example.com/', 'link', 0, 'human'],
      ['https://example.com/', 'link', 0, 'human'],
      ['https://example.com/ca', 'location:canada', 0, 'human'],
    ])
    expect(all.at(-1)).to.include({
      ...{ link: id, qr: null, bio: null, source: 'link', country: 'CA', referrer: 'x.com', browser: 'Chrome' },
      ...{ os: 'Windows', device: 'desktop', unique: true, receipt: `/api/clicks/${String(all.at(-1)!['id'])}/proof` },
    })
    for (const [filters, n] of [
      ['class=human', 4],
      ['class=bot', 1],
      ['unique=true', 3],
      ['country=GB&class=human', 2],
      ['revision=0', 4],
      ['revision=1&rule=link', 1],
      ['rule=location:canada', 1],
      ['destination=https://example.com/', 3],
      ['source=qr', 0],
      ['from=2001-01-01&to=2001-01-02', 0],
    ] as const) {
      const { json } = await visits(`link=${id}&${filters}`)
      expect([json['data'].result, json['data'].visits.length], filters).to.deep.equal([n, n])
      const { total } = (await app.get(`/api/stats?link=${id}&${filters}`, { key })).json['data']
      expect(total.visits, filters).to.equal(n)
    }
    await app.visit(`${new URL(String(qr['link'])).pathname}/go`)
    const [scan] = await until(
      () => rows(`qr=${qr['id']}`),
      (found) => found.length === 1,
    )
    expect(scan).to.include({ link: null, qr: qr['id'], source: 'qr', destination: 'https://example.com/poster' })

    // page by page, in every form
    const first = await visits(`link=${id}&limit=2`)
    const { next_cursor: cursor } = first.json['data']
    expect(first.headers.get('Link')).to.include(`cursor=${encodeURIComponent(cursor)}`)
    expect(await rows(`link=${id}&limit=2&cursor=${cursor}`)).to.deep.equal(all.slice(2, 4))
    const last = await visits(`link=${id}&limit=4&cursor=${cursor}`)
    expect(last.json['data']).not.to.have.property('next_cursor')
    expect(last.headers.get('Link')).to.equal(null)
    expect((await visits(`link=${id}&class=bot&cursor=${cursor}`)).status).to.equal(400)
    const lines = await visits(`link=${id}&limit=3`, { Accept: 'application/x-ndjson' })
    expect(
      lines.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).to.deep.equal(all.slice(0, 3))
    expect(lines.headers.get('Link')).to.include('rel="next"')
    const csv = await visits(`link=${id}&fields=class,destination`, { Accept: 'text/csv' })
    expect(csv.headers.get('Content-Type')).to.equal('text/csv; charset=utf-8; header=present')
    expect(csv.text.split('\r\n').slice(0, 3)).to.deep.equal([
      'destination,class',
      'https://example.org/new,human',
      'https://example.com/,bot',
    ])

    // as it was, and only the account's own
    const then = all[2]!['id'] as string
    const { headers } = first
    expect((await visits(`link=${id}&limit=2&at=${encodeURIComponent(headers.get('Linkledger-At')!)}`)).text).to.equal(
      first.text,
    )
    const one = await app.get(`/api/clicks?from=${then}&limit=1`, { key, headers: { Accept: 'application/x-ndjson' } })
    expect(JSON.parse(one.text)).to.deep.include({
      id: then,
      link: id,
      country: 'US',
      destination: 'https://example.com/',
    })
    // it may wait for a checkpoint
    const { status, json } = await app.get(`/api/clicks/${then}/proof`, { key })
    if (status !== 200) expect([status, json['code']]).to.deep.equal([409, 'not_signed_yet'])
    const other = await app.register()
    for (const filters of [`link=${id}`, `qr=${qr['id']}`])
      expect((await app.get(`/api/visits?${filters}`, { key: other.key })).status, filters).to.equal(404)
    expect((await app.get('/api/visits', { key: other.key })).json['data'].visits).to.deep.equal([])
    expect((await visits('unique=maybe')).json['message']).to.equal('`unique` must be one of true, false.')
    expect((await visits('from=2030-01-02&to=2030-01-01')).json['message']).to.include('`from` must be before `to`')
  })

  it('ignore HEAD requests, password forms and wrong passwords', async () => {
    const { id, path, visit, after } = await add({ password: 'sesame' })
    await visit()
    await visit({ method: 'HEAD' })
    await app.post(path, { body: 'password=wrong', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } })
    const { headers } = await app.post(path, { body: 'password=sesame', headers: { 'Content-Type': 'text/plain' } })
    await visit({ headers: { Cookie: headers.get('Set-Cookie')!.split(';')[0]! } })
    await after(1)
    const recorded = await query(
      app.connection,
      `select 1 from log.events, json_array_elements(data->'clicks') c where type = 'LinkClicked' and (c->>'link')::int = $1`,
      [id],
    )
    expect(recorded).to.have.length(1)
  })

  it('continue after an update of the link, and each click keeps its destination', async () => {
    const { id, visit, after } = await add()
    await visit()
    await app.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.org/new', custom: 'moved-on' } })
    await app.ask('GET', '/moved-on', { headers: { 'User-Agent': agents.android, 'X-Forwarded-For': canada } })
    expect((await after(2)).topOs).to.deep.equal({ Windows: '1', Android: '1' })
  })

  it('contain no address and no complete user agent', async () => {
    const { visit, after } = await add()
    const agent = `${agents.firefox} Canary/314159265`
    await visit({ address: '81.2.69.143', agent })
    await after(1)
    const kept = await query(
      app.connection,
      `select 1 from log.events where data::text like any (array['%81.2.69.143%', '%314159265%', '%Gecko/20100101%'])`,
    )
    expect(kept).to.deep.equal([])
  })
})
