import { expect } from 'chai'
import fc from 'fast-check'
import type { Service } from '../process.ts'
import { killedSteps } from './linkkills.ts'
import {
  all,
  change,
  expectDetails,
  expectList,
  type Fields,
  forget,
  holds,
  isFree,
  leads,
  looksLike,
  newLink,
  take,
  unique,
  visit,
} from './linkstate.ts'
import { choose, chosen, command, instance, type LinkModel, type ResourceModel, soon } from './world.ts'

/** Fields as a client sends them. No visitor matches the targets. */
const fields = fc.record(
  {
    title: fc.constantFrom('', 'Press', 'é "x" <b> 漢字'),
    description: fc.constantFrom('', null, 'About us'),
    metatitle: fc.constantFrom('', 'Meta'),
    expiry: fc.constantFrom(null, '', '2090-01-31 18:00:00', '2090-05-05'),
    password: fc.constantFrom(null, '', 'open sesame'),
    geotarget: fc.constantFrom([], [{ location: 'Antarctica', link: 'https://example.aq/' }]),
    browsertarget: fc.constantFrom('', [{ browser: 'Puffin', link: 'https://puffin.example/' }]),
    devicetarget: fc.constantFrom(null, [{ device: 'Tablet', link: 'https://tablet.example/' }]),
  },
  { requiredKeys: [] },
)
const url = fc.nat(99).map((n) => `https://example.com/${n}?q=a%20b#part`)
/** So few that some are used more than once; undefined lets the service draw one. */
const alias = fc.option(
  fc.tuple(fc.nat(7), fc.boolean()).map(([n, upper]) => (upper ? `NAME-${n}` : `name-${n}`)),
  { nil: undefined },
)
const visitor = fc.integer({ min: 1, max: 9 })
const input = fc.record({ url, alias, fields })

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
    const body = { ...fields, url, custom, keep_old: false }
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
  command(`account ${who} tries a link ${which} of another account on ${n}`, async (model, world) => {
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
      const [theirs, missing] = [
        await service.ask(method, path(found.link.id), ask),
        await service.ask(method, path(9e9), ask),
      ]
      expect([theirs.status, theirs.text], `${method} by a stranger`).to.deep.equal([404, missing.text])
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

/** Reads and follows a link as it was written while the tables do not have the change. */
const late = (n: number, which: number, visitor: number) =>
  command(`link ${which} is changed on ${n}, then deleted, while the projector is blocked`, async (model, world) => {
    const found = choose(all(model), which)
    if (!found) return
    const { account, link } = found
    const both = await world.settled()
    await world.whileBlocked(async () => {
      const body = {
        url: `https://example.com/late/${visitor}`,
        custom: unique(model, `late-${link.id}`),
        keep_old: false,
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
export const links: ResourceModel = {
  steps: [
    { weight: 40, arbitrary: fc.tuple(instance, chosen, input).map((args) => create(...args)) },
    { weight: 40, arbitrary: fc.tuple(instance, chosen, input).map((args) => update(...args)) },
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
    ...killedSteps,
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
