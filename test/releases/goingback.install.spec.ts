import { randomInt, randomUUID } from 'node:crypto'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { answer } from '../../src/commands/pages/answer.ts'
import { systemMetadata } from '../../src/events/event.ts'
import type { Connection } from '../../src/postgres/database.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { bodies } from '../support/bodies.ts'
import { type Answer, browser, type client, until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { openStage, query } from '../support/faults.ts'
import { appendNewer } from '../support/newer.ts'
import { oldProgram } from '../support/oldprogram.ts'
import { runProcess, type Service } from '../support/process.ts'
import { differences } from './compare.ts'
import { ask, type Question, type Reply } from './questions.ts'
import { readJson, readLines, type Release, releases, restored, settingsOf, versions } from './release.ts'

const version = '0.1.0'

type Client = ReturnType<typeof client>
interface Made {
  readonly path: string
  readonly id: number
}

const ok = (reply: Answer) => {
  expect(reply.status, reply.text).to.equal(200)
  return reply.json
}
/** What this release seals: the older one reads it as empty, or as it was before. */
const texts = new Set(
  'title name description tags metatitle metadescription metaimage message label image question options coupon tag logo banner preview fields'.split(
    ' ',
  ),
)
const withoutTexts = (value: unknown): unknown => {
  if (Array.isArray(value))
    return value
      .filter((one: { readonly field?: unknown } | null) => !texts.has(String(one?.field)))
      .map((one) => withoutTexts(one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, of]) => {
      // lists of campaigns have their name as the domain
      const isText = texts.has(name) || (name === 'domain' && !String(of).includes('.'))
      return isText ? [] : [[name, withoutTexts(of)]]
    }),
  )
}
/** Those of each resource that can be changed alone. */
const sealedTexts = {
  url: 'title description tags metatitle metadescription metaimage',
  pixel: 'name',
  campaign: 'name',
  channel: 'name description',
  splash: 'name title message logo banner',
  overlay: 'name message label',
  bio: 'name title description avatar',
  key: 'name',
  webhook: 'name',
}
/** Visits as a person from an unused address. */
const visit = (on: Client, path: string) =>
  on.visit(path, { 'X-Forwarded-For': [10, ...Array.from({ length: 3 }, () => randomInt(1, 255))].join('.') })
/** Waits for an answer that is as expected, and returns it. */
const eventually = async (ask: () => Promise<Answer>, matches: (reply: Answer) => boolean) => {
  const reply = await until(ask, matches)
  expect(matches(reply), `${reply.status} ${reply.text}`).to.equal(true)
  return reply
}
const isReady = async (service: Service) => {
  const status = async () => (await service.operator.get('/readyz?of=api')).status
  expect(await until(status, (n) => n === 200, 90_000), service.output()).to.equal(200)
}

describe(`release ${version} and this one on one database`, function () {
  this.timeout(240_000)
  const stage = openStage()
  let main = ''
  let connection: Connection
  let settings: Readonly<Record<string, string>>
  let folder = ''
  let old: Service
  let current: TestApp
  let key = ''
  let account = 0
  const made: Made[] = []
  /** visits of people of what the account has */
  let visits = 0

  before(async function () {
    main = await oldProgram(this, version)
    connection = await freshDatabase()
    folder = await stage.dir()
    settings = {
      SECRET: 'a secret for tests only',
      TRUST_PROXY: '1',
      BASE_URL: 'http://go.example.com',
      FRAME_CHECK: 'off',
      REGISTRATION: 'open',
      CHECKPOINT_SECONDS: '1',
    }
  })
  after(stage.clear)

  const settingsOfOld = () => ({ ...settings, DATABASE_URL: urlOf(connection), DATA_DIR: folder })
  const startOld = async () => {
    old = await stage.start(settingsOfOld(), main)
    await isReady(old)
  }
  const startCurrent = async () => {
    current = await startTestApp(settings, connection)
    stage.later(current.close)
    await eventually(
      () => current.operator.get('/readyz?of=api'),
      ({ status }) => status === 200,
    )
  }
  const command = async (...args: readonly string[]) => {
    const { code, out, err } = await runProcess(args, settingsOfOld(), main)
    expect([code, err], args.join(' ')).to.deep.equal([0, ''])
    return out
  }
  const both = () => [old, current] as const

  /** What both answer must be the same, but for sealed texts, and fields that only the newer one has. */
  const expectSame = async (path: string) => {
    const find = async () => {
      const [before, now] = await Promise.all(both().map((on) => on.get(path, { key })))
      return differences([before!.status, withoutTexts(before!.json)], [now!.status, withoutTexts(now!.json)], path)
    }
    expect(await until(find, ({ length }) => length === 0, 10_000), path).to.deep.equal([])
  }
  const expectAllSame = async () => {
    for (const { path, id } of made) await expectSame(`/api/${path}/${id}/history`)
    const lists = ['urls', 'qr', 'domains', 'pixels', 'campaigns', 'channels', 'splash', 'overlay', 'bio', 'webhooks']
    for (const list of lists) await expectSame(`/api/${list}`)
    for (const path of ['account', 'keys', 'account/history', 'account/stats', 'stats'])
      await expectSame(`/api/${path}`)
    for (const { path, id } of made)
      if (['url', 'qr', 'overlay', 'splash', 'bio'].includes(path)) await expectSame(`/api/${path}/${id}`)
  }
  const clicksOf = async (on: Client) => Number(ok(await on.get('/api/account/stats', { key }))['data'].total.clicks)
  const expectVisits = async (on: Client) => {
    expect(
      await until(
        () => clicksOf(on),
        (clicks) => clicks >= visits,
      ),
      'clicks of the account',
    ).to.equal(visits)
  }

  it('start one after the other, and the older one restarts while the newer one runs', async () => {
    await startOld()
    ;({ key, id: account } = await old.register('ann'))
    for (const [path, [add]] of Object.entries(bodies))
      made.push({ path, id: Number(ok(await old.post(`/api/${path}/add`, { key, body: add() }))['id']) })
    await startCurrent()
    await old.end()
    await startOld()
  })

  it('create, change, delete and restore resources that both know, and return the same for them', async () => {
    for (const [path, [add, update]] of Object.entries(bodies))
      for (const [writer, other] of [both(), both().toReversed()] as const) {
        const id = Number(ok(await writer!.post(`/api/${path}/add`, { key, body: add() }))['id'])
        // the older one sees no message, which an overlay must have
        const body = path === 'overlay' ? { ...add(), ...update } : update
        const change = () => other!.put(`/api/${path}/${id}/update`, { key, body })
        await eventually(change, ({ status }) => status === 200)
        if (path === 'key' || path === 'webhook') continue
        made.push({ path, id })
        await eventually(
          () => writer!.del(`/api/${path}/${id}/delete`, { key }),
          ({ status }) => status === 200,
        )
        await eventually(
          () => other!.post(`/api/${path}/${id}/restore`, { key, body: {} }),
          ({ status }) => status === 200,
        )
      }
    await expectAllSame()
  })

  it('go on when nothing but a text changes that the newer one seals', async () => {
    const required: Readonly<Record<string, object>> = { url: { url: 'https://example.com/' }, pixel: { tag: 'abc' } }
    for (const [path, names] of Object.entries(sealedTexts)) {
      const [add] = bodies[path]!
      const id = Number(ok(await current.post(`/api/${path}/add`, { key, body: add() }))['id'])
      for (const name of names.split(' ')) {
        const body = { ...required[path], [name]: name === 'tags' ? ['text'] : 'https://example.com/text' }
        ok(await current.put(`/api/${path}/${id}/update`, { key, body }))
      }
    }
    const { id } = ok(await current.post('/api/url/add', { key, body: { url: 'https://example.com/' } }))
    await eventually(
      () => old.get(`/api/url/${id}`, { key }),
      ({ status }) => status === 200,
    )
    expect(await command('projections', 'list')).not.to.include('halted')
    await isReady(old)
  })

  it('keep the texts that the newer one has sealed, which the older one reads as empty, when that changes something else', async () => {
    const url = 'https://example.com/'
    const texts = { title: 'Sealed title', tags: ['sealed'], metatitle: 'Sealed card' }
    const body = { url, custom: 'sealed', password: 'open sesame', ...texts }
    const { id } = ok(await current.post('/api/url/add', { key, body }))
    const read = (on: Client) => on.get(`/api/url/${id}`, { key })
    const { details } = (
      await eventually(
        () => read(old),
        ({ status }) => status === 200,
      )
    ).json
    expect(details).to.include({ title: '', longurl: url })
    expect((await visit(old, '/sealed')).text, 'a link with a password').to.include('password')
    ok(await old.put(`/api/url/${id}/update`, { key, body: { url: `${url}else`, title: '' } }))
    const after = await eventually(
      () => read(current),
      ({ json }) => json['details'].longurl === `${url}else`,
    )
    expect(after.json['details']).to.deep.include(texts)
    ok(await old.put(`/api/url/${id}/update`, { key, body: { url: `${url}else`, title: 'Open title' } }))
    await eventually(
      () => read(current),
      ({ json }) => json['details'].title === 'Open title',
    )
  })

  it('give the same answer to a request that is repeated with its Idempotency-Key, and do it once', async () => {
    const headers = { 'Idempotency-Key': randomUUID() }
    const ask = (on: Client) => on.post('/api/url/add', { key, headers, body: { url: 'https://example.com/once' } })
    const first = ok(await ask(current))
    expect(ok(await ask(old))).to.deep.equal(first)
  })

  it('count each visit once, whichever of them has answered it', async () => {
    const body = { url: 'https://example.com/x', custom: 'visited' }
    ok(await old.post('/api/url/add', { key, body }))
    const code = ok(
      await current.post('/api/qr/add', { key, body: { type: 'link', data: 'https://example.com/code' } }),
    )
    const scan = `${new URL(String(code['link'])).pathname}/go`
    for (const on of both())
      for (const path of ['/visited', scan])
        for (let n = 0; n < 5; n++) {
          await eventually(
            () => visit(on, path),
            ({ status }) => [200, 302].includes(status),
          )
          visits++
        }
    for (const on of both()) await expectVisits(on)
    await expectAllSame()
  })

  it('give a key no more rights than it has', async () => {
    const body = { name: 'Reader', scopes: ['read'], addresses: ['10.1.0.0/16'] }
    const limited = ok(await current.post('/api/key/add', { key, body }))
    const other = String(limited['key'])
    const from = (address: string) => ({ key: other, headers: { 'X-Forwarded-For': address } })
    await eventually(
      () => old.get('/api/urls', from('10.1.0.1')),
      ({ status }) => status === 200,
    )
    expect((await old.get('/api/urls', from('10.2.0.1'))).status).to.equal(403)
    const add = await old.post('/api/url/add', { ...from('10.1.0.1'), body: { url: 'https://example.com/' } })
    expect(add.status).to.equal(403)
    ok(await current.del(`/api/key/${limited['id']}/delete`, { key }))
    await eventually(
      () => old.get('/api/urls', from('10.1.0.1')),
      ({ status }) => status === 401,
    )
  })

  it('block for visitors everything that an operator blocks with either', async () => {
    const { id } = ok(
      await current.post('/api/url/add', { key, body: { url: 'https://example.com/b', custom: 'bad' } }),
    )
    await eventually(
      () => visit(old, '/bad'),
      ({ status }) => status === 302,
    )
    visits++
    const { code, err } = await runProcess(['block', 'link', `id:${id}`, '--reason', 'spam', '--yes'], {
      ...settingsOfOld(),
      DATA_DIR: current.dir,
    })
    expect([code, err]).to.deep.equal([0, ''])
    for (const on of both())
      await eventually(
        () => visit(on, '/bad'),
        ({ status }) => status === 403,
      )
    await command('unblock', 'link', `id:${id}`, '--yes')
    for (const on of both())
      await eventually(
        () => on.visit('/bad', { 'User-Agent': `${browser} bot` }),
        ({ status }) => status === 302,
      )
  })

  it('omit data that the older one cannot read: it returns 503 to a change of it and goes on serving it', async () => {
    const { id } = ok(await old.post('/api/url/add', { key, body: { url: 'https://example.com/n', custom: 'newer' } }))
    await appendNewer(current.app.ledger.store, `link-${id}`)
    const change = await eventually(
      () => old.put(`/api/url/${id}/update`, { key, body: { title: 'x' } }),
      ({ status }) => status === 503,
    )
    expect(change.json['message']).to.include('was changed by a newer version of Linkledger')
    expect((await visit(old, '/newer')).status).to.equal(302)
    visits++
    await expectVisits(old)
  })

  it('show no text of a visitor that the newer one has erased, or that is sealed under a key of its own', async () => {
    const overlay = made.find(({ path }) => path === 'overlay')!.id
    const give = { type: 'GiveAnswer', answer: randomUUID(), overlay, account, link: 0 } as const
    const fields = JSON.stringify({ email: 'vic@example.com' })
    await current.app.ledger.handler.handle(answer, { ...give, fields }, systemMetadata(account))
    const list = (on: Client) => () => on.get(`/api/overlay/${overlay}/answers`, { key })
    await eventually(list(current), ({ text }) => text.includes('vic@'))
    const listed = await eventually(list(old), ({ json }) => json['data'].answers.length === 1)
    expect(listed.text).not.to.include('vic@')
    ok(await current.del(`/api/overlay/${overlay}/answers/1/delete`, { key }))
    await eventually(list(current), ({ text }) => !text.includes('vic@'))
    expect((await list(old)()).status).to.equal(200)
  })

  it('know nothing amiss of the log: both verify it, also the tables, and the older one backs it up and exports it', async () => {
    const backup = join(await stage.dir(), 'backup.ndjson')
    expect(await command('backup', backup)).to.include('are saved')
    expect(await command('log', 'export', join(await stage.dir(), 'log.ndjson'))).to.include('are exported')
    for (const args of [['verify'], ['verify', '--tables']]) {
      expect(await command(...args)).to.include('The log holds')
      const { code, out } = await runProcess(args, { ...settingsOfOld(), DATA_DIR: current.dir })
      expect([code, out]).to.satisfy(
        ([status, text]: [number, string]) => status === 0 && text.includes('The log holds'),
        out,
      )
    }
    for (const args of [
      'account list',
      'projections list',
      'report list',
      'proof key',
      'account erasures',
      'history account id:1',
    ])
      await command(...args.split(' '))
    const restored = { ...settings, DATABASE_URL: urlOf(await freshDatabase()), DATA_DIR: await stage.dir() }
    const { code, err } = await runProcess(['restore', backup], restored)
    expect([code, err]).to.deep.equal([0, ''])
  })

  it('go back: the older one continues alone, with everything that both have written', async () => {
    await current.close()
    await old.end()
    await startOld()
    await visit(old, '/visited')
    visits++
    await expectVisits(old)
    for (const { path, id } of made) ok(await old.get(`/api/${path}/${id}/history`, { key }))
    const { id } = ok(await old.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'back' } }))
    await old.end()
    await startCurrent()
    ok(await current.get(`/api/url/${id}`, { key }))
    await visit(current, '/back')
    visits++
    await expectVisits(current)
    const { out } = await runProcess(['verify', '--tables'], { ...settingsOfOld(), DATA_DIR: current.dir })
    expect(out).to.include('The log holds').and.include('exact through')
    expect(await query(connection, `select name from state.knex_migrations where name >= '014'`)).to.deep.equal([])
  })
})

describe(`a folder that release ${version} and this one use in turn`, function () {
  this.timeout(240_000)
  const stage = openStage()
  let main = ''
  let DATA_DIR = ''
  let service: Service
  let key = ''
  let visits = 0
  before(async function () {
    main = await oldProgram(this, version)
    DATA_DIR = await stage.dir()
  })
  after(stage.clear)

  const start = async (program?: string) => {
    service = await stage.start({ DATA_DIR, TRUST_PROXY: '1', REGISTRATION: 'open', CHECKPOINT_SECONDS: '1' }, program)
    await isReady(service)
  }
  /** Visits the link so often that a process which is killed then has not recorded all of it. */
  const visitOften = async () => {
    for (let n = 0; n < 50; n++) {
      expect((await visit(service, '/kept')).status).to.equal(302)
      visits++
    }
  }
  const expectCounted = async () => {
    const clicks = async () => Number(ok(await service.get('/api/account/stats', { key }))['data'].total.clicks)
    expect(await until(clicks, (n) => n >= visits)).to.equal(visits)
  }

  it('has each visit once, after each of them was killed with visits that were not recorded yet', async () => {
    await start(main)
    ;({ key } = await service.register('ann'))
    ok(await service.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'kept' } }))
    await visitOften()
    await service.end('SIGKILL')
    await start()
    await expectCounted()
    await visitOften()
    await service.end('SIGKILL')
    await start(main)
    await expectCounted()
    await visitOften()
    await service.end('SIGKILL')
    await start()
    await expectCounted()
  })

  it('has no account that was erased, and its log holds', async () => {
    const erased = await service.register('eve')
    const { code, err } = await runProcess(['account', 'erase', erased.email, '--yes'], { DATA_DIR })
    expect([code, err]).to.deep.equal([0, ''])
    expect(await service.end()).to.equal(0)
    await start(main)
    await eventually(
      () => service.get('/api/account', { key: erased.key }),
      ({ status }) => status === 401,
    )
    await expectCounted()
    for (const program of [main, undefined])
      expect((await runProcess(['verify', '--tables'], { DATA_DIR }, program)).out).to.include('The log holds')
  })
})

describe(`a database that this release has made`, function () {
  this.timeout(240_000)
  const stage = openStage()
  after(stage.clear)

  it(`is served by release ${version}, too`, async function () {
    const main = await oldProgram(this, version)
    const connection = await freshDatabase()
    const app = await startTestApp({ BASE_URL: 'http://go.example.com' }, connection)
    const { key } = await app.register()
    ok(await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'new' } }))
    const settings = { DATABASE_URL: urlOf(connection), SECRET: app.config.SECRET ?? '', DATA_DIR: await stage.dir() }
    await app.close()
    const old = await stage.start({ ...settings, BASE_URL: 'http://go.example.com' }, main)
    await isReady(old)
    expect((await old.visit('/new')).status).to.equal(302)
    expect(ok(await old.get('/api/urls', { key }))['data'].urls).to.have.length(1)
  })
})

for (const newer of versions.filter((one) => one !== version))
  describe(`data that release ${newer} has stored, served by release ${version}`, function () {
    this.timeout(240_000)
    const stage = openStage()
    let old: Service
    let release: Release
    const dir = join(releases, newer)
    before(async function () {
      const main = await oldProgram(this, version)
      release = await readJson<Release>(dir, 'release.json')
      const settings = { ...settingsOf(release), DATABASE_URL: urlOf(await restored(dir)), DATA_DIR: await stage.dir() }
      await cp(join(dir, 'spool'), join(settings.DATA_DIR, 'spool'), { recursive: true })
      old = await stage.start(settings, main)
      await isReady(old)
    })
    after(stage.clear)

    const answers = async () =>
      (await readLines(dir, 'answers.jsonl')) as unknown as readonly {
        readonly question: Question
        readonly reply: Reply
      }[]

    const asked = async (wanted: (question: Question) => boolean) =>
      (await answers()).filter(({ question }) => wanted(question))

    it('answers the same about it, but for sealed texts', async () => {
      // a search by a text finds none that it cannot read
      for (const { question, reply } of await asked(({ as, path }) => as !== undefined && !path.includes('?q='))) {
        const find = async () => {
          const { status, json } = await ask(old.address, question, release.accounts)
          return differences([status, withoutTexts(json)], [reply.status, withoutTexts(reply.json)], question.path)
        }
        expect(await until(find, ({ length }) => length === 0, 20_000)).to.deep.equal([])
      }
    })

    // last, because these visits are counted
    it('leads visitors to the same addresses, with the same passwords', async () => {
      for (const { question, reply } of await asked(({ as }) => as === undefined)) {
        const { status, location } = await ask(old.address, question, release.accounts)
        // a card is made of texts: without them, there is none
        const hasCard = question.headers?.['User-Agent']?.startsWith('Slackbot')
        if (!hasCard) expect([status, location], question.path).to.deep.equal([reply.status, reply.location])
      }
    })
  })
