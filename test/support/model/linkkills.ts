import { expect } from 'chai'
import fc from 'fast-check'
import { setTimeout as sleep } from 'node:timers/promises'
import { all, change, details, forget, isFree, leads, newLink, take, unique, visit } from './linkstate.ts'
import { choose, chosen, command, type Instance, instance, type Step } from './world.ts'

/** Kills the instance during a write. Afterwards the link is either unchanged or changed completely. */
const killedWrite = (n: number, which: number, ms: number, kind: 'update' | 'delete') =>
  command(`instance ${n} is killed ${ms} ms into the ${kind} of link ${which}`, async (model, world) => {
    const found = choose(all(model), which)
    if (!found) return
    const { account, link } = found
    const { key } = account
    const at = await world.up(n)
    const title = `t${which}-${ms}`
    const body = { url: link.fields['url'], title }
    const asked = (
      kind === 'update'
        ? at.service.put(`/api/url/${link.id}/update`, { key, body })
        : at.service.del(`/api/url/${link.id}/delete`, { key })
    ).catch(() => undefined)
    await sleep(ms)
    await world.end(at, 'SIGKILL')
    const answered = (await asked)?.status === 200
    const [{ service }] = (await world.settled()) as [Instance]
    const { status, json } = await service.get(`/api/url/${link.id}`, { key })
    const done = kind === 'update' ? json['details']?.title === title : status === 404
    if (answered) expect(done, 'what was acknowledged').to.equal(true)
    if (done && kind === 'delete') forget(model, account, link)
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

/** Steps that kill an instance in the middle of a request. */
export const killedSteps: readonly Step[] = [
  {
    weight: 2,
    arbitrary: fc
      .tuple(instance, chosen, fc.nat(30), fc.constantFrom('update', 'delete'))
      .map((args) => killedWrite(...args)),
  },
  { weight: 2, arbitrary: fc.tuple(instance, chosen, fc.nat(30), fc.nat(9)).map((args) => killedCreate(...args)) },
  { weight: 2, arbitrary: fc.tuple(instance, chosen, fc.nat(30)).map((args) => killedVisits(...args)) },
]
