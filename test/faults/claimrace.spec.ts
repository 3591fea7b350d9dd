import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { long, query, rounds } from '../support/faults.ts'

describe('a name that many requests claim at once on two instances', function () {
  this.timeout(long ? 1_800_000 : 120_000)
  let apps: readonly [TestApp, TestApp]
  let keys: string[]
  before(async () => {
    const settings = { BASE_URL: 'http://short.test', TRUST_PROXY: '1' }
    const first = await startTestApp(settings)
    apps = [first, await startTestApp(settings, first.connection)]
    keys = [(await apps[0].register()).key, (await apps[1].register()).key, (await apps[0].register()).key]
  })
  after(() => Promise.all(apps.map((app) => app.close())))

  /**
   * Each request comes from a different IP address, because requests for unknown aliases are rate limited per address.
   */
  let addresses = 0
  const head = async (app: TestApp, alias: string) => {
    const from = `10.${(++addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
    const { status, headers } = await app.ask('HEAD', `/${alias}`, { headers: { 'X-Forwarded-For': from } })
    return status === 302 ? headers.get('Location') : status
  }
  const create = async (app: TestApp, key: string, custom: string, url = `https://example.com/${custom}`) => {
    const { json } = await app.post('/api/url/add', { key, body: { url, custom } })
    return { id: Number(json['id']), url }
  }
  const created = (alias: string) =>
    query<{ id: string }>(
      apps[0].connection,
      `select data->>'id' as id from log.events where type = 'LinkCreated' and lower(data->>'alias') = $1`,
      [alias],
    )

  it('goes to one of 50 creations, and the others learn that it is taken', async () => {
    for (const round of rounds(2, 40)) {
      const alias = `race-${round}`
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          apps[n % 2]!.post('/api/url/add', {
            key: keys[n % keys.length]!,
            body: { url: `https://example.com/${n}`, custom: n % 3 ? alias : alias.toUpperCase() },
          }),
        ),
      )
      const [won, lost] = [
        answers.filter(({ status }) => status === 200),
        answers.filter(({ status }) => status !== 200),
      ]
      expect([won.length, lost.length]).to.deep.equal([1, 49])
      for (const { status, json } of lost) {
        expect(status).to.equal(400)
        expect(json['error']).to.equal(1)
        expect(json['message']).to.include('alias is taken')
      }
      const { id } = won[0]!.json
      expect(await created(alias)).to.deep.equal([{ id: String(id) }])
      const url = `https://example.com/${answers.indexOf(won[0]!)}`
      for (const app of apps)
        expect(
          await until(
            () => head(app, alias),
            (to) => to === url,
          ),
        ).to.equal(url)
    }
  })

  it('goes to one account only when it is an e-mail', async () => {
    const email = 'race@example.com'
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        apps[n % 2]!.post('/register', { body: { email, password: 'correct horse 1' } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1)
    const lost = answers.filter(({ status }) => status === 400)
    expect(lost).to.have.length(9)
    for (const { json } of lost) expect(json['message']).to.include('`email` belongs to another account')
  })

  it('is refused to an update when it is taken, and the link keeps its alias', async () => {
    const [mine] = [await create(apps[0], keys[0]!, 'mine'), await create(apps[1], keys[1]!, 'theirs')]
    const { status, json } = await apps[1].put(`/api/url/${mine.id}/update`, {
      key: keys[0]!,
      body: { url: mine.url, custom: 'Theirs' },
    })
    expect(status).to.equal(400)
    expect(json['message']).to.include('alias is taken')
    for (const app of apps) expect(await head(app, 'mine')).to.equal(mine.url)
    for (const app of apps) expect(await head(app, 'theirs')).to.equal('https://example.com/theirs')
  })

  it('goes to one of two links in 20 simultaneous updates, and never leads to two destinations', async () => {
    for (const round of rounds(2, 40)) {
      const alias = `free-${round}`
      const links = [
        { ...(await create(apps[0], keys[0]!, `x-${round}`)), old: `x-${round}`, key: keys[0]! },
        { ...(await create(apps[1], keys[1]!, `y-${round}`)), old: `y-${round}`, key: keys[1]! },
      ] as const
      const seen = new Map<string, (string | number | null)[]>()
      let polling = true
      const poll = async (app: TestApp, at: string, path: string) => {
        const found: (string | number | null)[] = []
        seen.set(`${at} ${path}`, found)
        while (polling) {
          found.push(await head(app, path))
          await new Promise((done) => setTimeout(done, 5))
        }
      }
      const polls = apps.flatMap((app, n) =>
        [alias, links[0].old, links[1].old].map((path) => poll(app, String(n), path)),
      )
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          const { id, url, key } = links[n % 2]!
          const app = apps[(n >> 1) % 2]!
          const body = { url, custom: alias, keep_old: false }
          const { status, json } = await app.put(`/api/url/${id}/update`, { key, body })
          if (status === 200) expect(await head(app, alias), 'at once, where it was written').to.equal(url)
          else expect(json['message']).to.include('alias is taken')
          return { link: n % 2, status }
        }),
      )
      const winner = answers.find(({ status }) => status === 200)?.link ?? expect.fail('no update won')
      for (const { link: of, status } of answers) expect(status).to.equal(of === winner ? 200 : 400)
      const [won, lost] = [links[winner]!, links[1 - winner]!]
      for (const app of apps) {
        expect(
          await until(
            () => head(app, alias),
            (to) => to === won.url,
          ),
        ).to.equal(won.url)
        expect(
          await until(
            () => head(app, won.old),
            (to) => to === 404,
          ),
        ).to.equal(404)
      }
      polling = false
      await Promise.all(polls)

      /** Expects each change once. A look may come late, and be answered 503 while the tables are behind. */
      const expectCourse = (n: number, path: string, values: readonly (string | number)[]) => {
        const found = (seen.get(`${n} ${path}`) ?? []).filter((to) => to !== 503)
        const changes = found.filter((to, i) => to !== found[i - 1])
        expect(changes, path).to.deep.equal(values.slice(-changes.length))
      }
      for (const n of [0, 1]) {
        expectCourse(n, alias, [404, won.url])
        expectCourse(n, won.old, [won.url, 404])
        expectCourse(n, lost.old, [lost.url])
      }
    }
  })
})
