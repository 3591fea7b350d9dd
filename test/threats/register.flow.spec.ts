import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect } from 'chai'
import type { EventType } from '../../src/events/index.ts'
import { entryOf } from '../../src/events/register.ts'
import { runningEmbedded } from '../../src/postgres/embedded.ts'
import { until } from '../support/client.ts'
import { query } from '../support/faults.ts'
import { runCommand, type Service, startProcess } from '../support/process.ts'

/** in fields that the register has as sealed, and in those that it has as open */
const [sealed, open] = ['sealcanary', 'opencanary']
const url = `https://example.com/${open}`
const image = `https://example.com/${sealed}.png`

type Bodies = Readonly<Record<string, object>>
const places = {
  geotarget: [{ location: 'Canada', link: url }],
  devicetarget: [{ device: 'iPhone', link: url }],
  browsertarget: [{ browser: 'Safari', link: url }],
  languagetarget: [{ language: 'fr', link: url }],
}
const link = {
  ...{ url, title: sealed, description: sealed, metatitle: sealed, metadescription: sealed, metaimage: image },
  ...{ ...places, parameters: [{ name: open, value: open }], tags: [sealed], notes: sealed, expired_url: url },
  ...{ password: sealed, variants: [1, 2].map((n) => ({ url: `${url}/${n}`, weight: 1 })) },
}
const overlay = { name: sealed, message: sealed, label: sealed, link: url, image }
const splash = { name: sealed, title: sealed, message: sealed, logo: image, banner: image, product: url }
const bio = { name: sealed, title: sealed, description: sealed, avatar: image, links: [{ title: sealed, url: image }] }
const webhook = { name: sealed, url: image, tags: [open] }
/** What is sent to add each kind of resource; the same is sent to change it. */
const added: Bodies = {
  url: link,
  qr: { type: 'text', name: sealed, data: sealed },
  domain: { domain: `https://${open}.example.com`, redirectroot: url, redirect404: url },
  pixel: { type: 'gtmpixel', name: sealed, tag: `GTM-${sealed.toUpperCase()}` },
  campaign: { name: sealed, slug: open },
  channel: { name: sealed, description: sealed },
  overlay: { ...overlay, type: 'poll', question: sealed, options: [sealed, 'b'], coupon: sealed },
  splash: { ...splash, label: sealed, productLabel: sealed },
  bio: { ...bio, alias: open },
  webhook: { ...webhook, events: ['LinkCreated'] },
  key: { name: sealed, scopes: ['read'], addresses: ['192.0.2.20'] },
}
/** Fields of bodies that are no texts of a person: ids, colors, and what is sent beside a text that changes. */
const others = /^(?:pixels|channel|campaign|links|campaigns|channels|domains|from|color|max_clicks|variants\[\]\.id)\b/

type Schema = Readonly<Record<string, unknown>>
/** Returns the paths of the texts in a body, without those of a few known values. */
const textsIn = (document: Schema, body: unknown) => {
  const found = new Set<string>()
  const target = (schema: Schema): Schema => {
    const ref = schema['$ref']
    if (typeof ref !== 'string') return schema
    const path = ref.split('/').slice(1)
    return target(path.reduce<unknown>((part, name) => (part as Schema)[name], document) as Schema)
  }
  const walk = (given: unknown, at: string) => {
    const schema = target((given ?? {}) as Schema)
    for (const by of ['anyOf', 'oneOf', 'allOf']) for (const one of (schema[by] ?? []) as unknown[]) walk(one, at)
    if (schema['type'] === 'string' && !schema['enum'] && !schema['const']) found.add(at)
    if (schema['items']) walk(schema['items'], `${at}[]`)
    for (const [name, value] of Object.entries((schema['properties'] ?? {}) as Schema))
      walk(value, at ? `${at}.${name}` : name)
  }
  walk(body, '')
  return [...found]
}
/** Returns whether a body has a value at a path. */
const has = (body: unknown, path: string): boolean => {
  const [name = '', ...rest] = path.split('.')
  const value = (body as Schema)[name.replace('[]', '')]
  const inner = name.endsWith('[]') ? (value as unknown[] | undefined)?.[0] : value
  return inner !== undefined && (rest.length === 0 || has(inner, rest.join('.')))
}

describe('the data of an erased account, by the register', function () {
  this.timeout(240_000)
  let dir: string
  let service: Service
  let id: number
  const inDatabase = async <R extends object>(sql: string) => query<R>((await runningEmbedded(dir))!, sql)
  /** Returns the tables that have a text. */
  const tablesWith = async (text: string) => {
    const tables = await inDatabase<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('log', 'read', 'state')`,
    )
    const having = tables.map(
      ({ name }) => `select '${name}' as name where exists (select from ${name} t where t::text ilike '%${text}%')`,
    )
    const found = await inDatabase<{ name: string }>(having.join(' union all '))
    return found.map(({ name }) => name.replace(/_v\d.*$/, ''))
  }

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-register-'))
    service = await startProcess({ DATA_DIR: dir })
    await until(
      () => service.get('/readyz'),
      ({ status }) => status === 200,
    )
    const account = await service.register(sealed)
    id = account.id
    const { key } = account
    const headers = { 'X-Request-Id': sealed }
    const problems: string[] = []
    for (const [kind, body] of Object.entries(added)) {
      const made = await service.post(`/api/${kind}/add`, { key, body, headers })
      if (made.status !== 200) problems.push(`${kind}: ${made.text}`)
      const changed = JSON.parse(
        JSON.stringify(body).replaceAll(sealed, `${sealed}b`).replaceAll(`${open}"`, `${open}b"`),
      ) as object
      const { domain: _, ...rest } = changed as Record<string, unknown>
      const path = `/api/${kind}/${String(made.json['id'] ?? made.json['key']?.id ?? 2)}/update`
      const updated = await service.put(path, { key, body: rest, headers })
      if (updated.status !== 200) problems.push(`${path}: ${updated.text}`)
    }
    expect(problems).to.deep.equal([])
    const agents = { agents: [open] }
    expect((await service.put('/api/account/exclusions', { key, body: agents, headers })).status).to.equal(200)
  })
  after(async () => {
    await service.end()
    await rm(dir, { recursive: true, force: true })
  })

  it('begins with every text that the API takes to add or change something', async () => {
    const document = (await service.get('/openapi.json')).json as Schema
    for (const [kind, body] of Object.entries(added)) {
      const operation = (document['paths'] as Schema)[`/api/${kind}/add`] as Schema
      type Body = { readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: unknown }>> } }
      const { schema } = (operation['post'] as Body).requestBody.content['application/json']!
      const missing = textsIn(document, schema).filter((path) => !others.test(path) && !has(body, path))
      expect(missing, kind).to.deep.equal([])
    }
  })

  it('is in clear in the log where the register says so, and nowhere else', async () => {
    const events = await inDatabase<{ type: EventType; data: Schema; metadata: Schema }>(
      'select type, data, metadata from log.events',
    )
    const clear = new Set<string>()
    for (const { type, data, metadata } of events) {
      const { changes = {}, ...others } = data
      for (const [field, value] of Object.entries({ ...others, ...(changes as Schema) })) {
        const text = JSON.stringify(value).toLowerCase()
        expect(text, `${type}.${field}`).not.to.include(sealed)
        if (!text.includes(open)) continue
        expect(entryOf(type, field), `${type}.${field}`).to.include({ as: 'open' })
        clear.add(`${type}.${field}`)
      }
      expect(JSON.stringify(metadata), type).not.to.include(sealed)
    }
    expect([...clear]).to.include.members(['LinkCreated.url', 'LinkUpdated.parameters', 'OverlayCreated.link'])
  })

  it('is in no table and no file once the account is erased, except fields that stay in clear', async () => {
    expect(await tablesWith(sealed)).not.to.deep.equal([])
    const { code, err } = await runCommand(['account', 'erase', `id:${id}`, '--yes'], { DATA_DIR: dir })
    expect(code, err).to.equal(0)
    const cleared = () => inDatabase(`select from log.events where type = 'AccountErasedOnDisk'`)
    expect(await until(cleared, ({ length }) => length > 0, 120_000)).to.have.length(1)
    expect(await tablesWith(sealed)).to.deep.equal([])
    expect(await tablesWith(open)).to.have.members(['log.events', 'read.domains'])
    await service.end()
    const entries = await readdir(dir, { recursive: true, withFileTypes: true })
    for (const file of entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)))
      expect((await readFile(file, 'latin1')).toLowerCase().includes(sealed), relative(dir, file)).to.equal(false)
  })
})
