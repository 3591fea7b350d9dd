import { expect } from 'chai'
import { failure, proposed, startWithRules } from '../../support/approvals.ts'
import { openBrowser } from '../../support/issuerbrowser.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'

type World = Awaited<ReturnType<typeof startWithRules>>

describe('the second person of a change', () => {
  let stub: StubIssuer
  let world: World
  before(async () => {
    stub = await startStubIssuer()
    world = await startWithRules({
      OIDC_ISSUER: stub.address,
      OIDC_CLIENT_ID: 'linkledger',
      OIDC_CLIENT_SECRET: 'secret',
      OIDC_ROLES: 'editors=@acme:editor',
    })
  })
  after(async () => {
    await world.app.close()
    await stub.close()
  })

  const own = [403, 'lacks_rights', 'own_proposal']
  const unknown = [404, 'not_found']
  const notFound = (answer: Parameters<typeof failure>[0]) => failure(answer).slice(0, 2)

  it('is not its proposer who has left, and has joined again under another number', async () => {
    const { add, change, decide, found, join, leave } = world
    const { session, number } = await join('editor')
    const [one, two] = [
      proposed(await change(await add(), { url: 'https://example.com/own' }, session)),
      proposed(await change(await add(), { url: 'https://example.com/own' }, session)),
    ]
    expect((await leave(session)).status).to.equal(200)
    expect((await join('editor', { session })).number).to.be.greaterThan(number)
    expect((await found(one, session)).json['details'].own).to.equal(true)
    expect(failure(await decide(session, 'approve', one))).to.deep.equal(own)
    expect((await decide(session, 'refuse', one)).status).to.equal(200)
    expect((await found(one)).json['details'].status).to.equal('withdrawn')
    expect((await decide(world.ben, 'approve', two)).status).to.equal(200)
  })

  it('is not its proposer who has another number after losing and regaining a group of the issuer', async () => {
    const { account, add, app, change, decide } = world
    const browser = openBrowser(app.app.baseUrl)
    const enter = async (groups: readonly string[]) => {
      stub.knows({ sub: 'cat', groups })
      const began = await browser.open('/oidc/sign-in')
      await browser.open(stub.answerTo(began.headers.get('Location') ?? ''))
      const { json } = await browser.ask('GET', '/api/memberships')
      return json['data'].memberships.some((one: { account: number }) => one.account === account)
    }
    expect(await enter(['editors'])).to.equal(true)
    const asCat = { ask: browser.ask } as unknown as World['ben']
    const number = proposed(await change(await add(), { url: 'https://example.com/own' }, asCat))
    expect([await enter([]), await enter(['editors'])]).to.deep.equal([false, true])
    expect(failure(await decide(asCat, 'approve', number))).to.deep.equal(own)
  })

  it('could make the change: also the move to another domain', async () => {
    const { add, ann, asked, change, decide, detailsOf, found, join } = world
    const [here, there] = await Promise.all(
      ['https://here.example', 'https://there.example'].map(async (domain) =>
        Number((await asked(ann, 'POST', '/api/domain/add', { domain })).json['id']),
      ),
    )
    const { session } = await join('editor', { domains: [here!] })
    const id = await add({ domain: 'https://here.example' })
    const move = proposed(await change(id, { domain: 'https://there.example' }))
    expect(failure(await decide(session, 'approve', move))).to.deep.equal([403, 'lacks_rights', 'domain'])
    const stays = proposed(await change(id, { url: 'https://example.com/stays', domain: 'https://here.example' }))
    const list = (await asked(session, 'GET', '/api/proposals?status=open')).json['data'].proposals as { id: number }[]
    expect(list.map((one) => one.id)).to.deep.equal([stays, move])
    expect((await found(stays, session)).status).to.equal(200)
    expect((await decide(session, 'approve', stays)).status).to.equal(200)
    expect((await detailsOf(id)).longurl).to.equal('https://example.com/stays')
    const elsewhere = proposed(
      await change(await add({ domain: 'https://there.example' }), {
        url: 'https://example.com/hidden',
        domain: 'https://there.example',
      }),
    )
    for (const answer of [await found(elsewhere, session), await decide(session, 'refuse', elsewhere)])
      expect(notFound(answer)).to.deep.equal(unknown)
    expect(there).to.be.greaterThan(0)
  })

  it('sees nothing of a link that they may no longer see, not even by their own proposals', async () => {
    const { add, ann, asked, change, decide, found, join } = world
    const { session, number } = await join('editor')
    const id = await add({ notes: 'private' })
    const made = proposed(await change(id, { url: 'https://example.com/mine' }, session))
    expect((await found(made, session)).status).to.equal(200)
    await asked(ann, 'PUT', `/api/member/${number}/update`, { role: 'author' })
    const answers = [
      await asked(session, 'GET', `/api/url/${id}`),
      await found(made, session),
      await decide(session, 'refuse', made),
      await asked(session, 'POST', `/api/url/${id}/rehearse`, { proposal: made }),
    ]
    for (const answer of answers) expect(notFound(answer)).to.deep.equal(unknown)
    const none = await decide(session, 'refuse', 9999)
    expect(answers[2]!.json['params'], 'as of a number that there is not').to.deep.equal(none.json['params'])
    expect((await asked(session, 'GET', '/api/proposals')).json['data'].result).to.equal(0)
  })

  it('and authors see proposals of others for a link of theirs in no rehearsal either', async () => {
    const { add, asked, change, found, join } = world
    const { session } = await join('author')
    const id = await add({}, session)
    const hidden = proposed(await change(id, { url: 'https://example.com/secret' }))
    const rehearsed = (proposal: number) => asked(session, 'POST', `/api/url/${id}/rehearse`, { proposal })
    for (const answer of [await found(hidden, session), await rehearsed(hidden)])
      expect(notFound(answer)).to.deep.equal(unknown)
    const theirs = proposed(await change(id, { url: 'https://example.com/theirs' }, session))
    expect((await rehearsed(theirs)).status).to.equal(200)
  })

  it('is not the owner to whom the account went when its own sign-in ended', async () => {
    const { add, ann, ben, change, decide, join } = world
    const { session, number: member } = await join('owner')
    const number = proposed(await change(await add(), { url: 'https://example.com/before' }))
    const handed = await ann.ask('POST', '/api/account/handover', { member, current_password: 'correct horse 1' })
    expect(handed.status, handed.text).to.equal(200)
    expect(failure(await decide(session, 'approve', number))).to.deep.equal(own)
    expect((await decide(ben, 'approve', number)).status).to.equal(200)
  })
})
