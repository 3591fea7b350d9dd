import { expect } from 'chai'
import { browser } from '../client.ts'
import type { Service } from '../process.ts'
import { type AccountModel, type Instance, type LinkModel, type Model, soon, type World } from './world.ts'

export type Fields = LinkModel['fields']

const named = (entries: unknown, name: string) =>
  Object.fromEntries(
    ((entries || []) as Record<string, string>[]).map((entry) => [entry[name]!.toLowerCase(), entry['link']]),
  )
export const details = ({ id, alias, fields }: LinkModel) => ({
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
  browser: named(fields['browsertarget'], 'browser'),
})
const listed = (link: LinkModel) => {
  const { id, alias, shorturl, longurl, title, description } = details(link)
  return { id, alias, shorturl, longurl, title, description }
}

export const expectDetails = async (service: Service, { key }: AccountModel, link: LinkModel) => {
  const { status, json, text } = await service.get(`/api/url/${link.id}`, { key })
  expect(status, `link ${link.id}: ${text}`).to.equal(200)
  expect(json['details']).to.deep.include(details(link))
}
export type Found = { readonly account: AccountModel; readonly link: LinkModel }
export const holds = (world: World, n: number, { account, link }: Found) =>
  world.holds(n, (service) => expectDetails(service, account, link), link.written?.notified)
export const expectList = async (service: Service, { key, links }: AccountModel, limit: number, page: number) => {
  const { json } = await service.get(`/api/urls?limit=${limit}&page=${page}`, { key })
  const newest = links.toSorted((a, b) => b.id - a.id).slice((page - 1) * limit, page * limit)
  const maxpage = Math.max(1, Math.ceil(links.length / limit))
  expect(json['data']).to.include({ result: links.length, perpage: limit, currentpage: page, maxpage })
  const rows = json['data'].urls as Record<string, unknown>[]
  expect(rows).to.have.length(newest.length)
  rows.forEach((row, i) => expect(row).to.include(listed(newest[i]!)))
}

export const unique = ({ run }: Model, alias: string) => `${run}-${alias}`
/** Returns whether the account may use the alias for this link, or for a new one. */
export const isFree = ({ names }: Model, account: AccountModel, alias: string, link?: LinkModel) => {
  const name = names.get(alias.toLowerCase())
  return !name || (name.account === account && (name.link === undefined || name.link === link))
}
export const take = ({ names }: Model, account: AccountModel, alias: string, link: LinkModel) => {
  if (link.alias && names.get(link.alias.toLowerCase())?.link === link)
    names.set(link.alias.toLowerCase(), { account, link: undefined })
  names.set(alias.toLowerCase(), { account, link })
  link.alias = alias
}
export const forget = ({ names }: Model, account: AccountModel, link: LinkModel) => {
  account.links.splice(account.links.indexOf(link), 1)
  names.set(link.alias.toLowerCase(), { account, link: undefined })
}
export const all = ({ accounts }: Model): Found[] =>
  accounts.flatMap((account) => account.links.map((link) => ({ account, link })))

export const newLink = (id: number, fields: Fields, written?: LinkModel['written']): LinkModel => ({
  id,
  alias: '',
  fields,
  written,
  clicks: 0,
  unsure: 0,
  visitors: new Set(),
})
export const change = (link: LinkModel, fields: Fields, written?: LinkModel['written']) => {
  link.fields = { ...link.fields, ...fields }
  link.written = written
}

/** Sends a request as a browser; each visitor has an IP address of their own. */
export const visit = (service: Service, alias: string, visitor: number, method = 'GET', headers = {}) =>
  service.ask(method, `/${alias}`, {
    headers: { 'User-Agent': browser, 'X-Forwarded-For': `192.0.2.${visitor}`, ...headers },
  })
/** Expects where an alias leads, by a HEAD request, which is not counted. */
export const looksLike = async (service: Service, alias: string, link: LinkModel | undefined) => {
  // requests to unknown aliases are rate limited per IP address
  const from = `10.${[1, 2, 3].map(() => Math.floor(Math.random() * 256)).join('.')}`
  const { status, headers } = await visit(service, alias, 0, 'HEAD', { 'X-Forwarded-For': from })
  if (!link) expect(status, `${alias}, which does not exist`).to.equal(404)
  else if (link.fields['password']) expect(status, `${alias}, which has a password`).to.equal(200)
  else expect([status, headers.get('Location')], alias).to.deep.equal([302, link.fields['url']])
}
/** Expects where an alias leads: at once in the process that wrote it, soon in others. */
export const leads = async ({ service }: Instance, alias: string, link: LinkModel) => {
  const check = () => looksLike(service, alias, link)
  await (link.written?.by.service === service ? check() : soon(check))
}
