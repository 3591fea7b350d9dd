import { expect } from 'chai'
import fc from 'fast-check'
import { setTimeout as sleep } from 'node:timers/promises'
import { browser } from '../client.ts'
import type { Service } from '../process.ts'
import {
  type AccountModel,
  choose,
  chosen,
  command,
  type Instance,
  instance,
  type LinkModel,
  type Model,
  type ResourceModel,
  soon,
  type World,
} from './world.ts'

type Fields = LinkModel['fields']

/** What a link shows of fields as they were sent. No visitor is led elsewhere by these targets. */
const fields = fc.record(
  {
    title: fc.constantFrom('', 'Press', 'é "x" <b> 漢字'),
    description: fc.constantFrom('', null, 'About us'),
    metatitle: fc.constantFrom('', 'Meta'),
    expiry: fc.constantFrom(null, '', '2090-01-31 18:00:00', '2090-05-05'),
    password: fc.constantFrom(null, '', 'open sesame'),
    geotarget: fc.constantFrom([], [{ location: 'Antarctica', link: 'https://example.aq/' }]),
    devicetarget: fc.constantFrom(null, [{ device: 'Tablet', link: 'https://tablet.example/' }]),
  },
  { requiredKeys: [] },
)
const url = fc.nat(99).map((n) => `https://example.com/${n}?q=a%20b#part`)
/** Few enough to be wanted more than once, and none for one that is drawn. */
const alias = fc.option(
  fc.tuple(fc.nat(7), fc.boolean()).map(([n, upper]) => (upper ? `NAME-${n}` : `name-${n}`)),
  { nil: undefined },
)
const visitor = fc.integer({ min: 1, max: 9 })
const wish = fc.record({ url, alias, fields })

const named = (entries: unknown, name: string) =>
  Object.fromEntries(
    ((entries ?? []) as Record<string, string>[]).map((entry) => [entry[name]!.toLowerCase(), entry['link']]),
  )
const details = ({ id, alias, fields }: LinkModel) => ({
  id,
  alias,
  shorturl: `http://short.test/${alias}`,
  longurl: fields['url'],
  title: fields['title'] || fields['metatitle'] || '',
  description: fields['description'] || '',
  metatitle: fields['metatitle'] ?? '',
  expiry: ((fields['expiry'] as string) || null)?.replace(/^.{10}$/, '$& 23:59:59') ?? null,
  password: Boolean(fields['password']),
  location: named(fields['geotarget'], 'location'),
  device: named(fields['devicetarget'], 'device'),
})
const listed = (link: LinkModel) => {
  const { id, alias, shorturl, longurl, title, description } = details(link)
  return { id, alias, shorturl, longurl, title, description }
}

const expectDetails = async (service: Service, { key }: AccountModel, link: LinkModel) => {
  const { status, json, text } = await service.get(`/api/url/${link.id}`, { key })
  expect(status, `link ${link.id}: ${text}`).to.equal(200)
  expect(json['details']).to.deep.include(details(link))
}
type Found = { readonly account: AccountModel; readonly link: LinkModel }
const holds = (world: World, n: number, { account, link }: Found) =>
  world.holds(n, (service) => expectDetails(service, account, link), link.written?.told)
const expectList = async (service: Service, { key, links }: AccountModel, limit: number, page: number) => {
  const { json } = await service.get(`/api/urls?limit=${limit}&page=${page}`, { key })
  const newest = links.toSorted((a, b) => b.id - a.id).slice((page - 1) * limit, page * limit)
  const maxpage = Math.max(1, Math.ceil(links.length / limit))
  expect(json['data']).to.include({ result: links.length, perpage: limit, currentpage: page, maxpage })
  const rows = json['data'].urls as Record<string, unknown>[]
  expect(rows).to.have.length(newest.length)
  rows.forEach((row, i) => expect(row).to.include(listed(newest[i]!)))
}

const unique = ({ run }: Model, alias: string) => `${run}-${alias}`
/** Whether the account can have the alias for this link, or for a new one. */
const isFree = ({ names }: Model, account: AccountModel, alias: string, link?: LinkModel) => {
  const name = names.get(alias.toLowerCase())
  return !name || (name.account === account && (name.link === undefined || name.link === link))
}
const take = ({ names }: Model, account: AccountModel, alias: string, link: LinkModel) => {
  if (link.alias && names.get(link.alias.toLowerCase())?.link === link)
    names.set(link.alias.toLowerCase(), { account, link: undefined })
  names.set(alias.toLowerCase(), { account, link })
  link.alias = alias
}
const forget = ({ names }: Model, account: AccountModel, link: LinkModel) => {
  account.links.splice(account.links.indexOf(link), 1)
  names.set(link.alias.toLowerCase(), { account, link: undefined })
}
const all = ({ accounts }: Model): Found[] =>
  accounts.flatMap((account) => account.links.map((link) => ({ account, link })))

const newLink = (id: number, fields: Fields, written?: LinkModel['written']): LinkModel => ({
  id,
  alias: '',
  fields,
  written,
  clicks: 0,
  unsure: 0,
  visitors: new Set(),
})
const change = (link: LinkModel, fields: Fields, written?: LinkModel['written']) => {
  link.fields = { ...link.fields, ...fields }
  link.written = written
}

/** As a person; each visitor has an address of his own. */
const visit = (service: Service, alias: string, visitor: number, method = 'GET', headers = {}) =>
  service.ask(method, `/${alias}`, {
    headers: { 'User-Agent': browser, 'X-Forwarded-For': `192.0.2.${visitor}`, ...headers },
  })
/** Where a short address leads, by a look that is not counted. */
const looksLike = async (service: Service, alias: string, link: LinkModel | undefined) => {
  // an address that only guesses is not answered for long
  const from = `10.${[1, 2, 3].map(() => Math.floor(Math.random() * 256)).join('.')}`
  const { status, headers } = await visit(service, alias, 0, 'HEAD', { 'X-Forwarded-For': from })
  if (!link) expect(status, `${alias}, which leads nowhere`).to.equal(404)
  else if (link.fields['password']) expect(status, `${alias}, which has a password`).to.equal(200)
  else expect([status, headers.get('Location')], alias).to.deep.equal([302, link.fields['url']])
}
/** At once where it was written, soon elsewhere. */
const leads = async ({ service }: Instance, alias: string, link: LinkModel) => {
  const check = () => looksLike(service, alias, link)
  await (link.written?.by.service === service ? check() : soon(check))
}

const create = (
  n: number,
  who: number,
  { url, alias, fields }: { url: string; alias: string | undefined; fields: Fields },
) =>
  command(`account ${who} creates ${alias ?? 'a link'} on ${n}`, async (model, world) => {
    const account = choose(model.accounts, who)
    if (!account) return
    const custom = alias && unique(model, alias)
    const free = custom === undefined || isFree(model, account, custom)
    const body = { ...fields, url, custom }
    const written = await world.write(n, 'POST', '/api/url/add', { key: account.key, body }, free ? 200 : 400)
    const { json } = written
    if (!free) return void expect(json['message']).to.include('alias is taken')
    world.newId('link', json['id'])
    const given = String(json['shorturl']).slice('http://short.test/'.length)
    if (custom === undefined) expect(model.names.has(given), `${given} was drawn before`).to.equal(false)
    else expect(given).to.equal(custom)
    const link = newLink(Number(json['id']), { ...fields, url }, written)
    take(model, account, given, link)
    account.links.push(link)
  })

const update = (
  n: number,
  which: number,
  { url, alias, fields }: { url: string; alias: string | undefined; fields: Fields },
) =>
  command(`link ${which} is updated${alias ? ` to ${alias}` : ''} on ${n}`, async (model, world) => {
    const found = choose(all(model), which)
    if (!found) return
    const { account, link } = found
    const custom = alias && unique(model, alias)
    const free = custom === undefined || isFree(model, account, custom, link)
    const body = { ...fields, url, custom }
    const ask = { key: account.key, body }
    const written = await world.write(n, 'PUT', `/api/url/${link.id}/update`, ask, free ? 200 : 400)
    const { json, by } = written
    if (!free) return void expect(json['message']).to.include('alias is taken')
    change(link, { ...fields, url }, written)
    const before = link.alias
    if (custom !== undefined) take(model, account, custom, link)
    expect(json).to.include({ id: link.id, short: `http://short.test/${link.alias}` })
    if (before.toLowerCase() !== link.alias.toLowerCase()) await looksLike(by.service, before, undefined)
  })

const remove = (n: number, which: number) =>
  command(`link ${which} is deleted on ${n}`, async (model, world) => {
    const found = choose(all(model), which)
    if (!found) return
    const { account, link } = found
    const { by } = await world.write(n, 'DELETE', `/api/url/${link.id}/delete`, account, 200)
    forget(model, account, link)
    await looksLike(by.service, link.alias, undefined)
    await world.write(n, 'DELETE', `/api/url/${link.id}/delete`, account, 404)
  })

const foreign = (n: number, who: number, which: number) =>
  command(`account ${who} tries link ${which} of others on ${n}`, async (model, world) => {
    const account = choose(model.accounts, who)
    const found = choose(
      all(model).filter((other) => other.account !== account),
      which,
    )
    if (!account || !found) return
    const { key } = account
    const body = { url: 'https://evil.example/', custom: unique(model, 'stolen') }
    const tries = [
      ['GET', (id: number) => `/api/url/${id}`, { key }],
      ['PUT', (id: number) => `/api/url/${id}/update`, { key, body }],
      ['PUT', (id: number) => `/api/url/${id}/update`, { key, body: { url: 'not a url' } }],
      ['DELETE', (id: number) => `/api/url/${id}/delete`, { key }],
    ] as const
    const { service } = await world.up(n)
    for (const [method, path, ask] of tries) {
      const [theirs, nobodys] = [
        await service.ask(method, path(found.link.id), ask),
        await service.ask(method, path(9e9), ask),
      ]
      expect([theirs.status, theirs.text], `${method} by a stranger`).to.deep.equal([404, nobodys.text])
    }
    await holds(world, n, found)
  })

const read = (n: number, which: number) =>
  command(`link ${which} is read on ${n}`, async (model, world) => {
    const found = choose(all(model), which)
    if (found) await holds(world, n, found)
  })
const list = (n: number, who: number, limit: number, page: number) =>
  command(`page ${page} of ${limit} links of account ${who} is read on ${n}`, async ({ accounts }, world) => {
    const account = choose(accounts, who)
    if (account) await world.holds(n, (service) => expectList(service, account, limit, page))
  })

const follow = (n: number, which: number, visitor: number) =>
  command(`visitor ${visitor} follows link ${which} on ${n}`, async (model, world) => {
    const link = choose(all(model), which)?.link
    if (!link) return
    const at = await world.up(n)
    await leads(at, link.alias, link)
    const { password } = link.fields
    const headers = typeof password === 'string' && password ? await unlock(at.service, link, password, visitor) : {}
    const { status, headers: got } = await visit(at.service, link.alias.toUpperCase(), visitor, 'GET', headers)
    expect([status, got.get('Location')]).to.deep.equal([302, link.fields['url']])
    link.clicks++
    link.visitors.add(visitor)
  })
const unlock = async (service: Service, { alias }: LinkModel, password: string, visitor: number) => {
  expect((await visit(service, alias, visitor)).status).to.equal(200)
  const { status, headers, text } = await service.post(`/${alias}`, {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Forwarded-For': `192.0.2.${visitor}` },
    body: new URLSearchParams({ password }).toString(),
  })
  expect(status, text).to.equal(303)
  return { Cookie: headers.get('Set-Cookie')!.split(';')[0]! }
}
const crawl = (n: number, which: number, how: 'bot' | 'prefetch') =>
  command(`a ${how} looks at link ${which} on ${n}`, async (model, world) => {
    const found = choose(all(model), which)
    if (!found) return
    const headers = how === 'bot' ? { 'User-Agent': 'Googlebot/2.1' } : { 'Sec-Purpose': 'prefetch' }
    const at = await world.up(n)
    await leads(at, found.link.alias, found.link)
    await visit(at.service, found.link.alias, 99, 'GET', headers)
  })
const miss = (n: number, name: number) =>
  command(`name ${name} is looked up on ${n}`, async (model, world) => {
    const alias = unique(model, `name-${name}`)
    const at = await world.up(n)
    const link = model.names.get(alias)?.link
    if (link) await leads(at, alias, link)
    else await soon(() => looksLike(at.service, alias, undefined))
  })

/** What was written is read, and followed, as it was written, though the tables do not have it. */
const late = (n: number, which: number, visitor: number) =>
  command(`link ${which} is changed on ${n}, then deleted, while the tables stand still`, async (model, world) => {
    const found = choose(all(model), which)
    if (!found) return
    const { account, link } = found
    const both = await world.settled()
    await world.whileLate(async () => {
      const body = {
        url: `https://example.com/late/${visitor}`,
        custom: unique(model, `late-${link.id}`),
        password: '',
      }
      const ask = { key: account.key, body }
      const written = await world.write(n, 'PUT', `/api/url/${link.id}/update`, ask, 200)
      expect(written.headers.get('X-Projection-Pending')).to.equal('1')
      const before = link.alias
      change(link, { url: body.url, password: '' }, written)
      take(model, account, body.custom, link)
      for (const at of both) {
        await holds(world, at.n, found)
        await leads(at, link.alias, link)
        await soon(() => looksLike(at.service, before, undefined))
      }
      const { status } = await visit(written.by.service, link.alias, visitor)
      expect(status).to.equal(302)
      link.clicks++
      link.visitors.add(visitor)

      await world.write(n, 'DELETE', `/api/url/${link.id}/delete`, account, 200)
      forget(model, account, link)
      for (const { service } of both) {
        await soon(() => looksLike(service, link.alias, undefined))
        expect((await service.get(`/api/url/${link.id}`, account)).status).to.equal(404)
      }
    })
  })

/** The instance is killed while it is asked; what became of it shows afterwards, and is as it was or as it was wished. */
const killedWrite = (n: number, which: number, ms: number, wished: 'update' | 'delete') =>
  command(`instance ${n} is killed ${ms} ms into the ${wished} of link ${which}`, async (model, world) => {
    const found = choose(all(model), which)
    if (!found) return
    const { account, link } = found
    const { key } = account
    const at = await world.up(n)
    const title = `t${which}-${ms}`
    const body = { url: link.fields['url'], title }
    const asked = (
      wished === 'update'
        ? at.service.put(`/api/url/${link.id}/update`, { key, body })
        : at.service.del(`/api/url/${link.id}/delete`, { key })
    ).catch(() => undefined)
    await sleep(ms)
    await world.end(at, 'SIGKILL')
    const answered = (await asked)?.status === 200
    const [{ service }] = (await world.settled()) as [Instance]
    const { status, json } = await service.get(`/api/url/${link.id}`, { key })
    const done = wished === 'update' ? json['details']?.title === title : status === 404
    if (answered) expect(done, 'what was acknowledged').to.equal(true)
    if (done && wished === 'delete') forget(model, account, link)
    else if (done) change(link, { title })
    else expect(json['details']).to.deep.include(details(link))
  })
const killedCreate = (n: number, who: number, ms: number, name: number) =>
  command(`instance ${n} is killed ${ms} ms into a creation by account ${who}`, async (model, world) => {
    const account = choose(model.accounts, who)
    const custom = unique(model, `killed-${name}`)
    if (!account || !isFree(model, account, custom)) return
    const at = await world.up(n)
    const { key } = account
    const fields = { url: `https://example.com/killed/${name}` }
    const asked = at.service.post('/api/url/add', { key, body: { ...fields, custom } }).catch(() => undefined)
    await sleep(ms)
    await world.end(at, 'SIGKILL')
    const answer = await asked
    const [{ service }] = (await world.settled()) as [Instance]
    const { json } = await service.get('/api/urls?limit=1000', { key })
    const row = (json['data'].urls as { id: number; alias: string }[]).find((shown) => shown.alias === custom)
    if (answer?.status === 200) expect(row?.id).to.equal(answer.json['id'])
    if (!row) return
    world.newId('link', row.id)
    const link = newLink(row.id, fields)
    take(model, account, custom, link)
    account.links.push(link)
  })
const killedVisits = (n: number, which: number, ms: number) =>
  command(`instance ${n} is killed ${ms} ms into visits to link ${which}`, async (model, world) => {
    const found = choose(
      all(model).filter(({ link }) => !link.fields['password']),
      which,
    )
    if (!found) return
    const { link } = found
    const at = await world.up(n)
    await leads(at, link.alias, link)
    const visits = Array.from({ length: 20 }, (_, i) =>
      visit(at.service, link.alias, 200 + (i % 5)).then(
        ({ status }) => status,
        () => undefined,
      ),
    )
    await sleep(ms)
    await world.end(at, 'SIGKILL')
    const statuses = await Promise.all(visits)
    statuses.forEach((status, i) => {
      if (status !== undefined) expect(status).to.equal(302)
      if (status === 302) link.clicks++
      else link.unsure++
      if (status === 302) link.visitors.add(200 + (i % 5))
    })
  })

export const links: ResourceModel = {
  steps: [
    { weight: 40, arbitrary: fc.tuple(instance, chosen, wish).map((args) => create(...args)) },
    { weight: 40, arbitrary: fc.tuple(instance, chosen, wish).map((args) => update(...args)) },
    { weight: 10, arbitrary: fc.tuple(instance, chosen).map((args) => remove(...args)) },
    { weight: 30, arbitrary: fc.tuple(instance, chosen).map((args) => read(...args)) },
    {
      weight: 20,
      arbitrary: fc
        .tuple(instance, chosen, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 3 }))
        .map((args) => list(...args)),
    },
    { weight: 15, arbitrary: fc.tuple(instance, chosen, chosen).map((args) => foreign(...args)) },
    {
      weight: 60,
      arbitrary: fc.tuple(instance, chosen, visitor).map((args) => follow(...args)),
    },
    {
      weight: 10,
      arbitrary: fc.tuple(instance, chosen, fc.constantFrom('bot', 'prefetch')).map((args) => crawl(...args)),
    },
    { weight: 15, arbitrary: fc.tuple(instance, fc.nat(7)).map((args) => miss(...args)) },
    { weight: 3, arbitrary: fc.tuple(instance, chosen, visitor).map((args) => late(...args)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(instance, chosen, fc.nat(30), fc.constantFrom('update', 'delete'))
        .map((args) => killedWrite(...args)),
    },
    { weight: 2, arbitrary: fc.tuple(instance, chosen, fc.nat(30), fc.nat(9)).map((args) => killedCreate(...args)) },
    { weight: 2, arbitrary: fc.tuple(instance, chosen, fc.nat(30)).map((args) => killedVisits(...args)) },
  ],
  expectAll: async (model, service) => {
    for (const account of model.accounts) await expectList(service, account, 1000, 1)
    for (const { account, link } of all(model)) {
      await expectDetails(service, account, link)
      await soon(() => looksLike(service, link.alias, link))
      const { json } = await service.get(`/api/url/${link.id}`, account)
      const { clicks, uniqueClicks } = json['data'] as { clicks: number; uniqueClicks: number }
      expect(clicks, `clicks of link ${link.id}`).to.be.within(link.clicks, link.clicks + link.unsure)
      expect(uniqueClicks, `visitors of link ${link.id}`).to.be.within(
        link.visitors.size,
        link.visitors.size + link.unsure,
      )
    }
    for (const [alias, { link }] of model.names) if (!link) await looksLike(service, alias, undefined)
  },
}
