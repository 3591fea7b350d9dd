import { createHash, timingSafeEqual } from 'node:crypto'
import { expect } from 'chai'
import { account, type AccountCommand } from '../../src/commands/accounts/account.ts'
import { openAuth } from '../../src/cache/auth.ts'
import { allScopes } from '../../src/events/accounts/scope.ts'
import type { KeyRow } from '../../src/queries/accounts/key.ts'
import { newKey } from '../../src/security/apikeys.ts'
import { WrongSecret } from '../../src/security/wrapping.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Answer, until } from '../support/client.ts'
import { secondsLater } from '../support/clock.ts'
import { query } from '../support/faults.ts'

const rate = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

describe('an API key', () => {
  describe('in a request', () => {
    it('is compared with exactly one hash, whether the key exists or not', async () => {
      const pepper = Buffer.alloc(32, 7)
      const { id, key, hash } = newKey(pepper)
      const compared: [number, number][] = []
      const { authenticate } = openAuth(
        pepper,
        async (wanted) => (wanted === id ? mainKeyOf(hash) : undefined),
        (a, b) => {
          compared.push([a.length, b.length])
          return timingSafeEqual(a, b)
        },
      )
      const outcomes = []
      for (const other of [key, newKey(pepper).key, wrongSecret(key)])
        outcomes.push((await authenticate(other, new Date(), '')).ok)
      expect(outcomes).to.deep.equal([true, false, false])
      expect(compared).to.deep.equal([
        [32, 32],
        [32, 32],
        [32, 32],
      ])
    })
  })

  describe('that was made up', () => {
    const pepper = Buffer.alloc(32, 7)

    it('is looked up once in ten seconds, unless an account changes', async () => {
      const { id, key, hash } = newKey(pepper)
      let [lookups, issued] = [0, false]
      const auth = openAuth(pepper, async (wanted) => {
        lookups++
        return issued && wanted === id ? mainKeyOf(hash) : undefined
      })
      const ok = async () => (await auth.authenticate(key, new Date(), '')).ok
      for (let n = 0; n < 5; n++) expect(await ok()).to.equal(false)
      expect(lookups).to.equal(1)
      issued = true
      auth.forget([1])
      expect(await ok()).to.equal(true)
    })

    it('is forgotten again when many are, so that memory stays bounded', async () => {
      let lookups = 0
      const auth = openAuth(pepper, async () => void lookups++)
      const keys = Array.from({ length: 30_000 }, () => newKey(pepper).key)
      for (const key of keys) await auth.authenticate(key, new Date(), '')
      await auth.authenticate(keys[0], new Date(), '')
      expect(lookups).to.equal(30_001)
    })
  })

  describe('in two processes of one service', () => {
    let app: TestApp
    let second: TestApp
    before(async () => {
      app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '30' })
      second = await startTestApp({ RATE_LIMIT_PER_MINUTE: '30' }, app.connection)
    })
    after(async () => {
      await second.close()
      await app.close()
    })
    it('is looked up together with the others that arrive during a look-up when it was made up', async () => {
      const { db } = app.app.ledger
      let [running, most, queries] = [0, 0, 0]
      const isLookup = ({ sql }: { readonly sql: string }) => sql.includes('api_keys')
      const begin = (query: { readonly sql: string }) => {
        if (!isLookup(query)) return
        queries++
        most = Math.max(most, ++running)
      }
      const end = (_: unknown, query: { readonly sql: string }) => void (running -= Number(isLookup(query)))
      db.on('query', begin).on('query-response', end)
      const ask = () => app.get('/api/account', { key: newKey(Buffer.alloc(32)).key })
      const asked = await Promise.all(Array.from({ length: 300 }, ask))
      db.off('query', begin).off('query-response', end)
      expect(new Set(asked.map(({ status }) => status))).to.deep.equal(new Set([401, 429]))
      expect(most).to.equal(1)
      expect(queries).to.be.below(300)
    })

    const operate = (command: AccountCommand) =>
      app.app.ledger.handler.handle(account, command, {
        account: command.id,
        actor: { kind: 'operator' },
        request: 'a test',
        command: crypto.randomUUID(),
        at: new Date().toISOString(),
      })
    const issue = async (id: number, expires: string | null = null) => {
      const { id: key, key: text, hash } = newKey(app.app.ledger.keys.service)
      await operate({ type: 'IssueKey', id, apiKey: { key, hash, expires } })
      return text
    }
    const fresh = async () => {
      await query(app.connection, 'truncate state.rate_limits')
      return app.register()
    }
    const read = (key: string, at = app) => at.get('/api/account', { key })
    const soon = async (key: string, status: number, at: TestApp) => {
      const asked = async () => {
        // asking again and again must not use up the limit
        await query(app.connection, 'truncate state.rate_limits')
        return read(key, at)
      }
      const answer = await until(asked, (now) => now.status === status)
      expect(answer.status).to.equal(status)
      return answer
    }
    const expectHeaders = ({ headers }: Answer) => {
      for (const name of rate) expect(headers.get(name)).to.match(/^\d+$/)
    }

    it('needs the SECRET of the service: a process with another one does not start', async () => {
      const refused = await startTestApp({ SECRET: 'quite another secret' }, app.connection).catch(
        (error: unknown) => error,
      )
      expect(refused).to.be.instanceOf(WrongSecret)
      expect((refused as Error).message)
        .to.include('SECRET')
        .and.not.to.include('quite another')
    })

    it('is in no table and no event, so that a dump is useless', async () => {
      const { key } = await fresh()
      const [, , secret = ''] = key.split('_')
      expect((await read(key)).status).to.equal(200)
      const tables = await query<{ name: string }>(
        app.connection,
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('log', 'state', 'read', 'public')`,
      )
      expect(tables.length).to.be.at.least(8)
      let hashes: string[] = []
      for (const { name } of tables) {
        const needles = [secret.slice(0, 32), 'correct horse'].map((needle) => `%${needle}%`)
        expect(
          await query(app.connection, `select 1 from ${name} t where t::text like any($1)`, [needles]),
          name,
        ).to.deep.equal([])
        if (name.includes('api_keys'))
          hashes = (await query<{ hash: string }>(app.connection, `select hash from ${name}`)).map(({ hash }) => hash)
      }
      expect(hashes).to.have.length.at.least(1)
      for (const hash of hashes) expect((await read(hash)).status).to.equal(401)
    })

    it('expires at its time, and the response says so', async () => {
      const { id } = await fresh()
      const key = await issue(id, new Date(Date.now() + 60_000).toISOString())
      for (const at of [app, second]) await soon(key, 200, at)
      for (const at of [app, second]) {
        const answer = await secondsLater(61, () => read(key, at))
        expect(answer.status).to.equal(401)
        expect(answer.headers.get('WWW-Authenticate')).to.equal('Bearer')
        expect(answer.json['message']).to.include('expired')
        expectHeaders(answer)
      }
    })

    it('is rejected by all processes once it is replaced', async () => {
      const { id, key: old } = await fresh()
      for (const at of [app, second]) expect((await read(old, at)).status).to.equal(200)
      const key = await issue(id)
      for (const at of [second, app]) {
        const answer = await soon(old, 401, at)
        expect(answer.text).to.equal((await read('nonsense', at)).text)
        expect((await soon(key, 200, at)).json['data'].id).to.equal(id)
      }
    })

    it('gets the same response for every reason why it is invalid', async () => {
      const { key } = await fresh()
      const [, id = '', rest = ''] = key.split('_')
      const wrong = [
        ...'|Bearer|x|ll_|ll__'.split('|'),
        `ll_${id}_`,
        `ll_${id}`,
        rest,
        key.slice(1),
        `${key}0`,
        key.slice(0, -1),
        key.toUpperCase(),
        key.toLowerCase(),
        key.replace('ll_', 'LL_'),
        `${key},${key}`,
        `"${key}"`,
        `${key};`,
        wrongSecret(key),
        newKey(Buffer.alloc(32)).key,
        `Basic ${key}`,
        `Digest ${key}`,
        `Bearer Bearer ${key}`,
        ...Array.from({ length: 28 }, (_, i) => key.slice(0, i) + (key[i] === 'Q' ? 'R' : 'Q') + key.slice(i + 1)),
      ]
      expect(wrong).to.have.length.at.least(50)
      const missing = await app.get('/api/account')
      expect(missing.status).to.equal(401)
      for (const [i, header] of wrong.entries()) {
        if (i % 25 === 0) await query(app.connection, 'truncate state.rate_limits')
        const answer = await app.get('/api/account', { headers: { Authorization: header } })
        expect([answer.status, answer.text], header).to.deep.equal([401, missing.text])
        expect(answer.headers.get('WWW-Authenticate')).to.equal('Bearer')
        expectHeaders(answer)
      }
    })

    it('gets 403, and links 404, in all processes while the account is disabled', async () => {
      const { id, key } = await fresh()
      const custom = `switch-${id}`
      await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom } })
      const visits = async (status: number) => {
        for (const at of [app, second])
          expect(
            (
              await until(
                () => at.visit(`/${custom}`),
                (now) => now.status === status,
              )
            ).status,
          ).to.equal(status)
      }
      await visits(302)
      await operate({ type: 'DisableAccount', id })
      await visits(404)
      for (const at of [app, second]) {
        const answer = await soon(key, 403, at)
        expect(answer.json).to.deep.equal({
          error: 1,
          message: 'This account is disabled.',
          code: 'account_disabled',
          params: {},
        })
        expectHeaders(answer)
      }
      await operate({ type: 'EnableAccount', id })
      await visits(302)
      for (const at of [app, second]) await soon(key, 200, at)
    })

    describe('the rate limit of a key', () => {
      it('is shared by both processes: thirty concurrent requests pass', async () => {
        const { key } = await fresh()
        const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => read(key, i % 2 ? app : second)))
        const passed = answers.filter(({ status }) => status === 200)
        expect(passed).to.have.length(30)
        expect(passed.map(({ headers }) => Number(headers.get(rate[1]!))).toSorted((a, b) => a - b)).to.deep.equal(
          Array.from({ length: 30 }, (_, i) => i),
        )
        for (const answer of answers) {
          expect([200, 429]).to.include(answer.status)
          expectHeaders(answer)
          if (answer.status === 429) expect(Number(answer.headers.get('Retry-After'))).to.be.within(1, 60)
        }
      })

      it('is the same for every form of the header, and counts failed requests', async () => {
        const { key } = await fresh()
        const spelt = [`Bearer ${key}`, `bearer ${key}`, `BEARER\t${key}`, `Token ${key}`, key, `  Bearer   ${key}  `]
        const left = []
        for (const [i, Authorization] of spelt.entries())
          for (const path of ['/api/account', '/api/url/999999', '/api/nothing']) {
            const { headers } = await (i % 2 ? app : second).get(path, { headers: { Authorization } })
            left.push(Number(headers.get(rate[1]!)))
          }
        expect(left).to.deep.equal(Array.from({ length: 18 }, (_, i) => 29 - i))
      })

      it('also applies to requests without a valid key', async () => {
        await fresh()
        const asks = Array.from({ length: 80 }, (_, i) =>
          (i % 2 ? app : second).get('/api/urls', { key: `wrong-${i}` }),
        )
        const statuses = (await Promise.all(asks)).map(({ status }) => status)
        expect(statuses.filter((status) => status === 401)).to.have.length(30)
        expect(statuses.filter((status) => status === 429)).to.have.length(50)
      })

      it('starts again when its table is lost, with no other effect', async () => {
        const { key } = await fresh()
        const flood = () => Promise.all(Array.from({ length: 50 }, () => read(key)))
        const before = await flood()
        await query(app.connection, 'truncate state.rate_limits')
        const all = [...before, ...(await flood())]
        expect(all.filter(({ status }) => status === 200)).to.have.length(60)
      })

      it('resets when the window ends', async () => {
        const { key } = await fresh()
        for (let i = 0; i < 31; i++) await read(key)
        expect((await read(key)).status).to.equal(429)
        await query(app.connection, `update state.rate_limits set ends_at = now()`)
        const { status, headers } = await read(key)
        expect([status, headers.get(rate[1]!)]).to.deep.equal([200, '29'])
        expect(Number(headers.get(rate[2]!))).to.be.within(Date.now() / 1000 + 50, Date.now() / 1000 + 62)
      })
    })
  })
})

/** Returns the row of an account's main key. */
const mainKeyOf = (hash: string): KeyRow => ({
  account: 1,
  number: 1,
  hash,
  scopes: allScopes,
  expires: null,
  addresses: null,
  status: 'active',
  rateLimit: null,
  member: null,
  role: null,
  person: null,
  domains: null,
})

/** Returns a key with the id of an existing key and a valid checksum, but another secret. */
const wrongSecret = (key: string) => {
  const [, id = ''] = key.split('_')
  const secret = 'B'.repeat(32)
  return `ll_${id}_${secret}${createHash('sha256')
    .update(id + secret)
    .digest('hex')
    .slice(0, 6)}`
}
