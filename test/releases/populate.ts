import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestApp } from '../support/app.ts'
import { withClaims, withClickLogs, withDomainChecks, withOperator } from './operator.ts'
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
  // ann's old e-mail is free, her username is not
  const again = await register(app, 'ann')
  return [ann, bob, dan, eve, { ...fay, key: rotated }, { ...expired, key: past }, { ...again, name: 'hal' }]
}
