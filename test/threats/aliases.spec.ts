import { expect } from 'chai'
import { account } from '../../src/commands/accounts/account.ts'
import { hashPassword } from '../../src/security/passwords.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { cpuTime, inSeconds, secondsLater } from '../support/clock.ts'
import { query } from '../support/faults.ts'

const long = 'https://example.com/'

describe('aliases and passwords', () => {
  let app: TestApp
  /** a second process of the same service */
  let second: TestApp
  let ann: { key: string; id: number }
  let bob: { key: string; id: number }
  let named = 0
  const free = () => `name-${++named}`
  const add = (by: { key: string }, body: object, at = app) =>
    at.post('/api/url/add', { key: by.key, body: { url: long, ...body } })
  const create = async (by: { key: string }, body: object) => {
    const { json, text } = await add(by, body)
    expect(json['error'], text).to.equal(0)
    return Number(json['id'])
  }
  const update = (by: { key: string }, id: number, body: object, at = app) =>
    at.put(`/api/url/${id}/update`, { key: by.key, body: { url: long, ...body } })
  const operate = (type: 'DisableAccount' | 'EnableAccount' | 'EraseAccount', id: number) =>
    app.app.ledger.handler.handle(
      account,
      { type, id },
      {
        account: id,
        actor: { kind: 'operator' },
        request: 'a test',
        command: crypto.randomUUID(),
        at: new Date().toISOString(),
      },
    )

  before(async () => {
    // what a guess costs is measured here
    const outside = { hashNewPassword: hashPassword }
    app = await startTestApp({ TRUST_PROXY: '1' }, undefined, outside)
    second = await startTestApp({ TRUST_PROXY: '1' }, app.connection, outside)
    ;[ann, bob] = [await app.register(), await app.register()]
  })
  after(async () => {
    await second.close()
    await app.close()
  })

  describe('an alias that was given up', () => {
    const taken = async (custom: string) => {
      const own = await create(bob, {})
      for (const { status, json } of [
        await add(bob, { custom }),
        await add(bob, { custom: custom.toUpperCase() }, second),
        await update(bob, own, { custom }, second),
      ]) {
        expect(status, custom).to.equal(400)
        expect(json['message']).to.include('alias is taken')
      }
    }
    const reclaimed = async (custom: string) => {
      const url = `https://example.com/${custom}`
      expect((await add(ann, { custom, url }, second)).status).to.equal(200)
      expect((await app.visit(`/${custom}`)).headers.get('Location')).to.equal(url)
    }

    it('stays reserved after its link is deleted', async () => {
      const custom = free()
      await app.del(`/api/url/${await create(ann, { custom })}/delete`, { key: ann.key })
      await taken(custom)
      await reclaimed(custom)
    })

    it('stays reserved after its link is renamed', async () => {
      const [custom, later] = [free(), free()]
      const id = await create(ann, { custom })
      await update(ann, id, { custom: later, keep_old: false })
      await update(ann, id, { custom: free(), keep_old: false })
      for (const old of [custom, later]) {
        await taken(old)
        await reclaimed(old)
      }
    })

    it('stays with its owner after its link expires', async () => {
      const custom = free()
      await create(ann, { custom, expiry: inSeconds(60) })
      await secondsLater(61, async () => {
        expect((await app.ask('HEAD', `/${custom}`)).status).to.equal(410)
        await taken(custom)
      })
    })

    it('stays reserved after its account is erased', async () => {
      const carl = await app.register()
      const [one, two] = [free(), free()]
      await create(carl, { custom: one })
      await app.del(`/api/url/${await create(carl, { custom: two })}/delete`, { key: carl.key })
      await operate('DisableAccount', carl.id)
      await taken(one)
      await operate('EraseAccount', carl.id)
      await until(
        () => app.visit(`/${one}`),
        ({ status }) => status === 404,
      )
      for (const custom of [one, two]) await taken(custom)
    })
  })

  describe('an alias that many request at once', () => {
    const outcome = (answers: readonly { status: number; json: Record<string, unknown> }[]) => {
      for (const { status, json } of answers)
        if (status !== 200) {
          expect(status, JSON.stringify(json)).to.equal(400)
          expect(json['message']).to.include('alias is taken')
        }
      return answers.filter(({ status }) => status === 200)
    }
    /** Returns the links with an alias, once the tables have one. */
    const holders = (alias: string) =>
      until(
        () =>
          query(
            app.connection,
            `select 1 from ${app.app.ledger.tables.name('links')} where alias_key = $1 and deleted is null`,
            [alias],
          ),
        ({ length }) => length > 0,
      )

    it('belongs to one link, whichever process creates it', async () => {
      const custom = free()
      const wishes = Array.from({ length: 50 }, (_, i) =>
        add(i % 3 === 0 ? ann : bob, { custom }, i % 2 === 0 ? app : second),
      )
      expect(outcome(await Promise.all(wishes))).to.have.length(1)
      expect(await holders(custom)).to.have.length(1)
    })

    it('belongs to one link when others are renamed to it', async () => {
      const [custom, mine, theirs] = [free(), await create(ann, {}), await create(bob, {})]
      const wishes = Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0 ? update(ann, mine, { custom }, app) : update(bob, theirs, { custom }, second),
      )
      // the link that has the alias accepts each update
      expect(outcome(await Promise.all(wishes))).to.have.length(10)
      expect(await holders(custom)).to.have.length(1)
    })

    it('never redirects to an earlier owner while it changes hands', async () => {
      const [from, to] = [free(), free()]
      const places = ['https://one.example/', null, 'https://two.example/']
      const id = await create(ann, { custom: from, url: places[0] })
      const seen: (string | null)[] = []
      const watching = (async () => {
        // each request has its own IP address, because requests for unknown aliases are rate limited per address
        while (seen.at(-1) !== places[2]) {
          const address = `10.9.${seen.length >> 8}.${seen.length & 255}`
          seen.push((await app.visit(`/${from}`, { 'X-Forwarded-For': address })).headers.get('Location'))
        }
      })()
      await update(ann, id, { custom: to, url: places[0], keep_old: false })
      expect((await add(ann, { custom: from, url: places[2] })).status).to.equal(200)
      expect((await app.visit(`/${from}`)).headers.get('Location')).to.equal(places[2])
      await watching
      const ranks = seen.map((place) => places.indexOf(place))
      expect(ranks).to.deep.equal(ranks.toSorted((a, b) => a - b))
      expect((await second.visit(`/${to}`)).headers.get('Location')).to.equal(places[0])
    })
  })

  describe('the password of a link', () => {
    const form = (password: string, extra: Record<string, string> = {}) => ({
      body: String(new URLSearchParams({ password })),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...extra },
    })
    const secret = 'canary24 sesame'

    it('cannot be guessed by concurrent attempts: at most ten are checked', async () => {
      const custom = free()
      await create(ann, { custom, password: secret })
      const five = await cpuTime(() => Promise.all(Array.from({ length: 5 }, () => hashPassword('x'))))
      const tries = Array.from({ length: 60 }, (_, i) => i)
      const guess = (i: number) => (i % 2 ? app : second).post(`/${custom}`, form(`guess ${i}`))
      const statuses: number[] = []
      const spent = await cpuTime(() => Promise.all(tries.map(async (i) => statuses.push((await guess(i)).status))))
      const checked = statuses.filter((status) => status === 401)
      expect(checked.length).to.be.within(1, 10)
      // a busy service may put one off
      expect(statuses.filter((status) => status === 429 || status === 503).length).to.equal(60 - checked.length)
      expect(spent.ms / (five.ms / 5)).to.be.below(30)
      for (const at of [app, second]) expect((await at.post(`/${custom}`, form(secret))).status).to.equal(429)
    })

    it('is refused with 503 while too many are checked, and other links redirect meanwhile', async () => {
      const [custom, open] = [free(), free()]
      await create(ann, { custom, password: secret })
      await create(ann, { custom: open })
      const guess = (i: number) => app.post(`/${custom}`, form(`guess ${i}`, { 'X-Forwarded-For': `192.0.2.${i}` }))
      const guesses = Promise.all(Array.from({ length: 40 }, (_, i) => guess(i)))
      for (let i = 0; i < 10; i++) expect((await app.visit(`/${open}`)).status).to.equal(302)
      for (const { status, headers } of await guesses) {
        expect([401, 503]).to.include(status)
        if (status === 503) expect(headers.get('Retry-After')).to.equal('2')
      }
      const after = await app.post(`/${custom}`, form(secret))
      expect(after.status, 'those with 503 were not counted').to.equal(303)
    })

    it('is required for every link type, device and method', async () => {
      const link = 'https://target.example/'
      const targets = {
        geotarget: [{ location: 'Canada', link }],
        devicetarget: ['iphone', 'android', 'desktop', 'mobile'].map((device) => ({ device, link })),
        languagetarget: [{ language: 'en', link }],
        metatitle: 'Meta',
        parameters: [{ name: 'a', value: 'b' }],
      }
      const agents = [
        'iPhone; CPU iPhone OS 17_5 like Mac OS X',
        'Linux; Android 14; Pixel 8',
        'Windows NT 10.0; Win64; x64',
      ].map((system) => `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36`)
      for (const type of ['direct', 'frame', 'splash']) {
        const custom = free()
        await create(ann, { custom, type, password: secret, url: link, ...targets })
        for (const agent of [...agents, 'facebookexternalhit/1.1', 'Googlebot/2.1'])
          for (const method of ['GET', 'HEAD']) {
            const headers = { 'User-Agent': agent, 'Accept-Language': 'en', 'Sec-Purpose': 'prefetch' }
            const answer = await app.ask(method, `/${custom}`, { headers })
            expect([answer.status, answer.headers.get('Location')], `${type} ${agent}`).to.deep.equal([200, null])
            expect(answer.text).not.to.include('target.example').and.not.to.include('Meta')
            if (method === 'GET') expect(answer.text).to.include('<form method="post">')
          }
      }
    })

    it('is accepted from the form only, not from the URL, a cookie or a header', async () => {
      const custom = free()
      await create(ann, { custom, password: secret })
      const word = encodeURIComponent(secret)
      for (const [path, headers] of [
        [`/${custom}?password=${word}&pw=${word}`, {}],
        [`/${custom}`, { Cookie: `password=${word}; ll_password=${word}; dub_password_${custom}=${word}` }],
        [`/${custom}`, { Authorization: `Basic ${Buffer.from(`:${secret}`).toString('base64')}` }],
        [`/${custom}`, { 'X-Password': word }],
      ] as [string, Record<string, string>][])
        expect((await app.visit(path, headers)).status, path).to.equal(200)
      expect((await app.post(`/${custom}?password=${word}`, form('wrong'))).status).to.equal(401)
    })

    it('appears in no response, cookie, log or table', async () => {
      const custom = free()
      const id = await create(ann, { custom, password: secret })
      const unlocked = await app.post(`/${custom}`, form(secret))
      expect(unlocked.status).to.equal(303)
      const answers = [
        unlocked.text + JSON.stringify([...unlocked.headers]),
        (await app.get(`/api/url/${id}`, { key: ann.key })).text,
        (await app.get('/api/urls?limit=1000', { key: ann.key })).text,
      ]
      for (const text of answers) expect(text).not.to.match(/canary24|scrypt/)
      expect((await app.get(`/api/url/${id}`, { key: ann.key })).json['details'].password).to.equal(true)
      for (const table of ['log.events', app.app.ledger.tables.name('links')])
        expect(await query(app.connection, `select 1 from ${table} t where t::text like '%canary24%'`)).to.deep.equal(
          [],
        )
      // the log has the password's hash only sealed under the account's key
      expect(await query(app.connection, `select 1 from log.events where data::text like '%scrypt%'`)).to.deep.equal([])
    })

    it('is required by every process as soon as it is set, and again of unlocked visitors when it changes', async () => {
      const custom = free()
      const id = await create(ann, { custom })
      for (const at of [app, second]) expect((await at.visit(`/${custom}`)).status).to.equal(302)
      await update(ann, id, { password: secret })
      const locked = await until(
        () => second.visit(`/${custom}`),
        ({ status }) => status === 200,
      )
      expect([locked.status, (await app.visit(`/${custom}`)).status]).to.deep.equal([200, 200])
      const { headers } = await second.post(`/${custom}`, form(secret))
      const Cookie = headers.get('Set-Cookie')!.split(';')[0]!
      for (const at of [app, second]) expect((await at.visit(`/${custom}`, { Cookie })).status).to.equal(302)
      await update(ann, id, { password: secret })
      for (const at of [app, second])
        expect(
          (
            await until(
              () => at.visit(`/${custom}`, { Cookie }),
              ({ status }) => status === 200,
            )
          ).status,
        ).to.equal(200)
    })
  })
})
