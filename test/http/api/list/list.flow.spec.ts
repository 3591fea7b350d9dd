import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { routes } from '../../../../src/http/routes.ts'
import { contracts } from '../../../../src/http/docs/contracts.ts'
import { team } from '../../../../src/commands/accounts/team.ts'
import { approval } from '../../../../src/commands/approvals/approval.ts'
import { account as accounts } from '../../../../src/commands/accounts/account.ts'
import { answer } from '../../../../src/commands/pages/answer.ts'
import { report } from '../../../../src/commands/operator/report.ts'
import { systemMetadata } from '../../../../src/events/event.ts'
import { insertAttempt } from '../../../../src/postgres/webhooks.ts'
import { importing } from '../../../../src/commands/links/importing.ts'
import { openMisses } from '../../../../src/postgres/misses.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { until } from '../../../support/client.ts'
import { randomFrom, repeatable, seed } from '../../../support/faults.ts'
import { signIn } from '../../../support/session.ts'

/**
 * Every list of the API, from its contract: a new one is tested as soon as it is described. The rows of a history do
 * not come and go: see history.flow.spec.ts and revisions.flow.spec.ts. Visits have neither pages nor an order to choose.
 */
const lists = Object.values(contracts).flatMap((described) =>
  Object.entries(described).flatMap(([endpoint, { list }]) =>
    list && !/\/(?:history|revisions|visits)$/.test(endpoint)
      ? [{ ...list, columns: Object.keys(list.row.shape), endpoint, path: endpoint.replace('GET ', '') }]
      : [],
  ),
)
type Row = Readonly<Record<string, unknown>>

describe(`lists of the API (${repeatable})`, () => {
  let app: TestApp
  let key: string
  let account: number
  let operator: Awaited<ReturnType<typeof signIn>>
  let parents: { readonly channel: number; readonly overlay: number; readonly webhook: number }
  let n = 0
  const random = randomFrom(seed)

  const add = async (path: string, body: object) => {
    const { status, json, text } = await app.post(path, { key, body })
    expect(status, text).to.equal(200)
    return Number(json['id'])
  }
  before(async () => {
    app = await startTestApp({ QUOTA_WEBHOOKS: '0', SESSION_RATE_LIMIT_PER_MINUTE: '0' })
    const owner = await app.register()
    ;({ key, id: account } = owner)
    await app.app.ledger.handler.handle(accounts, { type: 'MarkOperator', id: account }, systemMetadata(account))
    operator = await signIn(app, owner.email)
    parents = {
      channel: await add('/api/channel/add', { name: 'parent' }),
      overlay: await add('/api/overlay/add', { type: 'contact', name: 'parent' }),
      webhook: await add('/api/webhook/add', { name: 'parent', url: 'https://example.com/', events: ['LinkDeleted'] }),
    }
  })
  after(() => app.close())

  const link = (name: string) => add('/api/url/add', { url: 'https://example.com/', title: name, tags: [name] })
  const remove = (kind: string) => async (row: Row) => {
    expect((await app.del(`/api/${kind}/${String(row['id'])}/delete`, { key })).status).to.equal(200)
  }
  const miss = async (of: number, name: string) => {
    const misses = openMisses(app.app.ledger.db, Date.now)
    misses.note({ account: of, host: 'go.example.com', path: `/${name}`, kind: 'unknown', byPerson: true })
    await misses.write()
  }
  const plain = (kind: string, body: (name: string) => object) => ({
    add: (name: string) => add(`/api/${kind}/add`, body(name)),
    remove: remove(kind),
  })
  /** How rows of each list come, with a name that the list searches, and how they go. */
  const makers: Record<
    string,
    { readonly add: (name: string) => Promise<unknown>; readonly remove?: (row: Row) => Promise<void> }
  > = {
    '/api/urls': { add: link, remove: remove('url') },
    '/api/domains': plain('domain', (name) => ({ domain: `https://${name}.example.com` })),
    '/api/overlay': plain('overlay', (name) => ({ type: 'contact', name })),
    '/api/splash': plain('splash', (name) => ({ name })),
    '/api/qr': plain('qr', (name) => ({ type: 'text', data: 'x', name })),
    '/api/pixels': plain('pixel', (name) => ({ type: 'gapixel', name, tag: 'G-ABC123' })),
    '/api/campaigns': plain('campaign', (name) => ({ name })),
    '/api/channels': plain('channel', (name) => ({ name })),
    '/api/bio': plain('bio', (name) => ({ name, links: [] })),
    '/api/tags': { add: link },
    '/api/webhooks': plain('webhook', (name) => ({
      name,
      url: 'https://example.com/',
      events: ['LinkFramingChecked'],
    })),
    '/api/keys': plain('key', (name) => ({ name, scopes: ['read'] })),
    '/api/members': {
      add: async (name) => {
        const { id: person } = await app.register(name)
        const { handler } = app.app.ledger
        const by = { member: 1, key: false } as const
        const invited = { role: 'editor', addressHash: null, expires: '2040-01-01T00:00:00.000Z' } as const
        const { state } = await handler.handle(
          team,
          { type: 'Invite', id: account, by, ...invited },
          systemMetadata(account),
        )
        const joins = { member: state.last, person, now: new Date().toISOString() }
        await handler.handle(team, { type: 'Join', id: account, ...joins }, systemMetadata(account))
        await shown('/api/members', name)
      },
      // the sign-in of the account stays
      remove: async (row) => (row['id'] === 1 ? undefined : remove('member')(row)),
    },
    '/api/proposals': {
      add: async (kind) => {
        const proposed = { kind, target: 1, revision: 0, member: 1, command: {} }
        const command = { type: 'Propose', id: account, ...proposed } as const
        await app.app.ledger.handler.handle(approval, command, systemMetadata(account))
        await shown('/api/proposals', kind)
      },
    },
    '/api/channel/:id': {
      add: async (name) => {
        const id = await link(name)
        await app.post(`/api/channel/${parents.channel}/assign/links/${id}`, { key })
      },
      remove: async ({ id }) => {
        await app.del(`/api/channel/${parents.channel}/assign/links/${String(id)}`, { key })
      },
    },
    '/api/webhook/:id/deliveries': {
      add: (name) =>
        insertAttempt(app.app.ledger.db, {
          ...{ webhook: parents.webhook, account, message: 'test_1', type: name, ordinal: null, try: 1 },
          ...{ status: 204, ms: 1, delivered: true, problem: '', excerpt: '' },
        }),
    },
    '/api/operator/accounts': { add: (name) => app.register(name) },
    '/api/operator/reports': {
      add: async (name) => {
        const about = { account, kind: 'link', subject: 1, address: `go.example/${name}` } as const
        const said = { reason: 'phishing', message: '', email: '' } as const
        const command = { type: 'SendReport', id: randomUUID(), ...about, ...said } as const
        await app.app.ledger.handler.handle(report, command, systemMetadata(account))
        await shown('/api/operator/reports', name)
      },
    },
    '/api/operator/blocks': {
      add: async (name) => {
        const body = { kind: 'host', value: `${name}.example.com`, reason: 'phishing' }
        expect((await operator.ask('POST', '/api/operator/block', body)).status).to.equal(200)
      },
      remove: async ({ kind, value }) => {
        expect((await operator.ask('POST', '/api/operator/unblock', { kind, value })).status).to.equal(200)
      },
    },
    '/api/imports': {
      add: async (name) => {
        const [id, { handler }] = [randomUUID(), app.app.ledger]
        await handler.handle(importing, { type: 'Start', id, account }, systemMetadata(account))
        await handler.handle(
          importing,
          { type: 'Finish', id, account, format: name, links: 1 },
          systemMetadata(account),
        )
        await shown('/api/imports', name)
      },
    },
    '/api/misses': { add: (name) => miss(account, name) },
    '/api/operator/misses': { add: (name) => miss(0, name) },
    '/api/overlay/:id/answers': {
      add: async (name) => {
        const command = {
          type: 'GiveAnswer',
          answer: randomUUID(),
          overlay: parents.overlay,
          account,
          link: 1,
        } as const
        const fields = JSON.stringify({ email: `${name}@example.com` })
        await app.app.ledger.handler.handle(answer, { ...command, fields }, systemMetadata(account))
        await shown('/api/overlay/:id/answers', name)
      },
    },
  }
  /** Reads a list as one who may: operators by their session, others by their key. */
  const ask = (path: string, query: string, as = key) =>
    path.startsWith('/api/operator/')
      ? operator.ask('GET', `${path}?${query}`)
      : app.get(`${address(path)}?${query}`, { key: as })
  const address = (path: string) => path.replace(':id', String(parents[path.split('/')[2] as keyof typeof parents]))
  const read = async (path: string, query: string) => {
    const { status, json, text, headers } = await ask(path, query)
    expect(status, `${path}?${query}: ${text}`).to.equal(200)
    const { name } = lists.find((one) => one.path === path)!
    const { [name]: rows, ...envelope } = json['data'] as Record<string, unknown>
    const next = envelope['next_cursor'] as string | undefined
    return { rows: rows as Row[], envelope, next, link: headers.get('Link') }
  }
  /** Waits until a list has a row: only the API waits for the tables. */
  const shown = (path: string, name: string) =>
    until(
      () => read(path, `q=${name}`),
      ({ envelope }) => envelope['result'] === 1,
    )
  const refusal = async (path: string, query: string, as = key) => {
    const { status, json } = await ask(path, query, as)
    return [status, json['message']] as const
  }
  /** Makes rows one after another, so that their days have the order of their ids, and waits until the list shows them. */
  const fill = async (path: string, names: readonly string[]) => {
    const before = Number((await read(path, 'limit=1')).envelope['result'])
    for (const name of names) await makers[path]!.add(name)
    await until(
      () => read(path, 'limit=1'),
      ({ envelope }) => Number(envelope['result']) >= before + names.length,
    )
  }

  it('all take the same parameters, which the reference explains', () => {
    const open = routes.filter(({ method, path }) => method === 'get' && makers[path])
    expect(open.map(({ path }) => path)).to.have.members(lists.map(({ path }) => path))
    for (const { path, query } of open) {
      const shape = (query as unknown as { readonly shape: object }).shape
      // a tag is not created: it is there while a link has it
      const dated = path === '/api/tags' ? [] : ['from', 'to']
      expect(shape, path).to.include.keys('limit', 'page', 'cursor', 'order', 'q', 'fields', ...dated)
    }
  })

  for (const { path, identity, columns } of lists) {
    const keyOf = (row: Row) => identity.map((column) => String(row[column])).join('/')

    it(`GET ${path} returns each row that stays once by cursor, while others come and go`, async () => {
      const maker = makers[path]!
      const name = () => `w${++n}x`
      await fill(path, Array.from({ length: 5 }, name))
      const staying = new Set((await read(path, 'limit=1000')).rows.map(keyOf))
      const seen: string[] = []
      let cursor: string | undefined = ''
      for (let pages = 0; cursor !== undefined && pages < 50; pages++) {
        const page = await read(path, `limit=2&cursor=${cursor}`)
        seen.push(...page.rows.map(keyOf))
        expect(page.envelope['currentpage']).to.equal(pages + 1)
        const { pathname, searchParams } = new URL(
          /<(.*)>; rel="next"/.exec(page.link ?? '<x>')?.[1] ?? '/',
          app.address,
        )
        if (page.next === undefined) expect(page.link).to.equal(null)
        else expect([pathname, searchParams.get('cursor')]).to.deep.equal([address(path), page.next])
        if (random(2) === 0) await maker.add(name())
        const rows: Row[] = random(2) === 0 && maker.remove ? (await read(path, 'limit=1000')).rows : []
        const gone = rows.filter(
          (row) => row['name'] !== 'parent' && /^w\d+x$/.test(String(path === '/api/keys' ? row['name'] : 'w1x')),
        )[random(rows.length || 1)]
        if (gone) {
          staying.delete(keyOf(gone))
          await maker.remove?.(gone)
        }
        cursor = page.next
      }
      expect(cursor).to.equal(undefined)
      expect(new Set(seen).size, 'a row came twice').to.equal(seen.length)
      expect(seen).to.include.members([...staying])
    })

    it(`GET ${path} finds rows by a part of their text, and returns the requested columns`, async () => {
      const name = `needle${++n}`
      await fill(path, [name])
      const found = await read(path, `q=${name.toUpperCase()}&fields=${columns[1]}`)
      expect(found.envelope['result']).to.equal(1)
      expect(Object.keys(found.rows[0]!)).to.have.members([...new Set([...identity, columns[1]!])])
      expect((await read(path, 'q=nothing-has-this')).envelope['result']).to.equal(0)
      expect(await refusal(path, 'fields=secret')).to.deep.equal([
        400,
        `\`fields\` must be any of ${columns.join(', ')}, separated by commas.`,
      ])
    })
  }

  const dated = lists.filter(({ path }) => path !== '/api/tags')
  it('are filtered by the day of creation, oldest or newest first, and refuse invalid filters', async () => {
    for (const { path, identity } of dated) {
      const ids = async (query: string) => (await read(path, query)).rows.map((row) => row[identity.at(-1)!])
      const all = await ids('limit=1000')
      expect(await ids('limit=1000&from=2001-01-01&to=9999-12-31'), path).to.deep.equal(all)
      expect(await ids('limit=1000&order=oldest'), path).to.deep.equal(all.toReversed())
      const { rows, next } = await read(path, 'limit=2&order=oldest&cursor=&from=2001-01-01')
      const after = await ids(`limit=1000&order=oldest&from=2001-01-01&cursor=${next}`)
      expect([...rows.map((row) => row[identity.at(-1)!]), ...after], path).to.deep.equal(all.toReversed())
      expect(await ids('to=2001-01-01'), path).to.deep.equal([])
      expect((await refusal(path, 'from=yesterday'))[1]).to.match(/^`from` must be a date and time in UTC/)
      expect(await refusal(path, 'from=2030-01-02&to=2030-01-01')).to.deep.equal([400, '`from` must be before `to`.'])
      const orders = path.endsWith('/misses') ? 'date, oldest, click' : 'date, oldest'
      if (path !== '/api/urls')
        expect(await refusal(path, 'order=best')).to.deep.equal([400, `\`order\` must be one of ${orders}.`])
    }
  })

  it('refuse a cursor of another list, order, filter or account, and a changed one', async () => {
    const other = (await app.register()).key
    const { next = '' } = await read('/api/urls', 'limit=1&cursor=')
    const elsewhere =
      '`cursor` belongs to another list, order or filter: send it with the parameters that it was returned for.'
    for (const query of ['order=click', 'order=oldest', 'q=x', 'from=2001-01-01', 'archived=all'])
      expect(await refusal('/api/urls', `cursor=${next}&${query}`), query).to.deep.equal([400, elsewhere])
    for (const { path } of lists.filter((one) => one.path !== '/api/urls'))
      expect(await refusal(path, `cursor=${next}`), path).to.deep.equal([400, elsewhere])
    const unknown = '`cursor` must be a `next_cursor` that this list returned to this account, unchanged.'
    const at = random(next.length - 1)
    const changed = next.slice(0, at) + (next[at] === 'A' ? 'B' : 'A') + next.slice(at + 1)
    for (const cursor of [changed, next.slice(0, -4), '1', 'x'.repeat(5000), '%00', '🙂'])
      expect(await refusal('/api/urls', `cursor=${cursor}`), cursor.slice(0, 99)).to.deep.equal([400, unknown])
    expect(await refusal('/api/urls', `cursor=${next}`, other)).to.deep.equal([400, unknown])
    // a page may have another size and other columns
    await read('/api/urls', `cursor=${next}&limit=3&fields=alias`)
  })
})
