import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { withClaims, withClickLogs, withDomainChecks, withLaterOperator, withOperator } from './operator.ts'
import { type Account, apiAs, long, makeDomains, makeGroups, makeLinks, makeParts } from './resources.ts'
import { answer, answerAll, brandHost, visit, visitors } from './visits.ts'

/** Registers an account; its e-mail and username are made from the name. */
export const register = async (app: TestApp, name: string): Promise<Account> => {
  const { id, key } = await app.register(name)
  return { name, id, key }
}

/** Fills the account that has every kind of resource. Returns the ids that other steps refer to. */
const populateFirst = async (app: TestApp, ann: Account, logo: string) => {
  const actor = apiAs(app, ann)
  const parts = await makeParts(actor)
  const domains = await makeDomains(actor)
  const links = await makeLinks(actor, parts, domains.brand)
  const groups = await makeGroups(actor, links.full, links.direct, logo)
  await actor.remove('campaign', parts.former)
  await actor.call('PUT', '/api/account/update', { email: 'ann.lee@example.com', password: 'another horse 2' })

  const code = String((await actor.call('GET', `/api/qr/${groups.codes[0]}`))['details'].link)
  const paths = ['/full', '/direct', '/splashed', '/overlaid-1', '/locked', '/ann-page', '/r/spring', '/not-there']
  for (const path of [...paths, `${new URL(code).pathname}/go`])
    for (const options of visitors) await visit(app, path, options)
  await visit(app, '/branded', { host: brandHost })
  await answerAll(app, parts.shown)
  return { parts, domains, links, groups }
}

/** Gives each of these accounts one resource of each kind. */
const populateOthers = async (app: TestApp, { bob, dan, eve }: Readonly<Record<'bob' | 'dan' | 'eve', Account>>) => {
  for (const account of [bob, dan, eve]) {
    const { add, call } = apiAs(app, account)
    const { name } = account
    const link = await add('url', { url: `${long}${name}`, custom: `of-${name}`, title: `A link of ${name}` })
    const channel = await add('channel', { name: `Channel of ${name}` })
    await call('POST', `/api/channel/${channel}/assign/links/${link}`)
    await add('qr', { type: 'wifi', data: { ssid: `Net of ${name}`, pass: 'private horse' } })
    await add('bio', { name: `Bio of ${name}`, alias: `bio-${name}`, links: [] })
    await add('campaign', { name: `Campaign of ${name}`, slug: `camp-${name}`, public: true })
    await answer(app, await add('overlay', { type: 'contact', name: 'Write me' }), {
      email: 'v@example.net',
      message: name,
    })
    await visit(app, `/of-${name}`)
  }
}

/** Lets an account do what came after release 0.1.0. */
const populateLater = async (app: TestApp, account: Account) => {
  const actor = apiAs(app, account)
  const { add, call, update, remove } = actor
  const kept = {
    url: { url: `${long}ida`, custom: 'of-ida', title: 'Kept by Ida', tags: ['spring', 'mail'] },
    qr: { type: 'text', data: 'Kept code' },
    pixel: { type: 'bing', name: 'Kept pixel', tag: 'abc' },
    campaign: { name: 'Kept campaign', slug: 'kept' },
    channel: { name: 'Kept channel' },
    overlay: { type: 'contact', name: 'Kept overlay', message: 'Write to us' },
    splash: { name: 'Kept splash page' },
    bio: { name: 'Kept page', alias: 'bio-ida', links: [{ title: 'Kept entry', url: long }] },
  }
  const ids: Record<string, number> = {}
  for (const [kind, body] of Object.entries(kept)) {
    const id = (ids[kind] = await add(kind, body))
    await remove(kind, id)
    await call('POST', `/api/${kind}/${id}/restore`, {})
  }
  const item = `/api/channel/${ids['channel']}/assign/links/${ids['url']}`
  await call('POST', item)
  await call('DELETE', item)
  await answer(app, ids['overlay']!, { email: 'erased@example.net', message: 'Forget me' })
  await answer(app, ids['overlay']!, { email: 'stays@example.net', message: 'Keep me' })
  await until(
    () => call('GET', `/api/overlay/${ids['overlay']}/answers`),
    (list) => (list['data'] as { result: number }).result === 2,
  )
  await call('DELETE', `/api/overlay/${ids['overlay']}/answers/1/delete`)

  const key = await add('key', { name: 'Reader', scopes: ['read'], addresses: ['192.0.2.0/24'] })
  await update('key', key, { name: 'Still a reader' })
  await remove('key', await add('key', { name: 'Ended', scopes: ['read'] }))
  const webhook = await add('webhook', { url: 'https://hooks.example.com/', name: 'Hook', events: ['LinkCreated'] })
  await update('webhook', webhook, { name: 'Renamed hook' })
  await update('webhook', webhook, { enabled: false })
  await update('webhook', webhook, { enabled: true })
  await call('POST', `/api/webhook/${webhook}/rotate`, {})
  await call('POST', `/api/webhook/${webhook}/replay`, { from: 0 })
  await remove('webhook', await add('webhook', { url: 'https://hooks.example.com/gone' }))
  await visit(app, '/of-ida')
  await call('PUT', '/api/account/exclusions', { agents: ['Internal'], countries: ['CA'] })
  await withLaterOperator(app.app.ledger, { account: account.id, link: ids['url']! })
}

/**
 * Makes the service write every type of event: through its API where that is possible, otherwise through the code that
 * the program itself uses. Resolves when the link that expires has expired.
 */
export const populate = async (app: TestApp, logo: string): Promise<readonly Account[]> => {
  const [ann, bob, dan, eve, fay] = [
    await register(app, 'ann'),
    await register(app, 'bob'),
    await register(app, 'dan'),
    await register(app, 'eve'),
    await register(app, 'fay'),
  ]
  const { domains, links } = await populateFirst(app, ann, logo)
  await populateOthers(app, { bob, dan, eve })
  const { ledger } = app.app
  const operator = withOperator(ledger)
  await withDomainChecks(ledger, domains)
  await withClaims(ledger, { account: ann.id, rival: bob.id, link: links.direct })
  await withClickLogs(ledger, { account: ann.id, link: links.full, spool: randomUUID() })
  await operator.disable(dan.id)
  await operator.erase(eve.id)
  await operator.disable(fay.id)
  await operator.enable(fay.id)
  const rotated = await operator.issueKey(fay.id, '2999-12-31T23:59:59.000Z')
  const expired = await register(app, 'gus')
  const past = await operator.issueKey(expired.id, new Date().toISOString())
  while ((await visit(app, '/brief')).status !== 410) await sleep(100)
  const later = await register(app, 'ida')
  await populateLater(app, later)
  // ann's old e-mail is free, her username is not
  const again = await register(app, 'ann')
  return [ann, bob, dan, eve, { ...fay, key: rotated }, { ...expired, key: past }, { ...again, name: 'hal' }, later]
}
