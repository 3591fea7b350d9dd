import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { openBrowser } from '../../support/issuerbrowser.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'
import {
  type DirectoryClient,
  entraUser,
  errorSchema,
  filtered,
  listSchema,
  openDirectoryClient,
  patchOf,
} from '../../support/scim.ts'

const password = 'correct horse 1'

describe('a directory that provisions people by SCIM', () => {
  let stub: StubIssuer
  let app: TestApp
  let other: TestApp
  let directory: DirectoryClient
  let foreign: DirectoryClient
  let acme: { readonly id: number; readonly key: string }
  before(async () => {
    stub = await startStubIssuer()
    const settings = {
      OIDC_ISSUER: stub.address,
      OIDC_CLIENT_ID: 'linkledger',
      OIDC_CLIENT_SECRET: 'a secret',
      OIDC_ROLES: 'editors=@acme:editor, admins=@acme:admin, 7f-external=@acme:analyst',
    }
    app = await startTestApp(settings)
    acme = await app.register('acme', 'acme')
    directory = await openDirectoryClient(app, stub.address)
    foreign = await openDirectoryClient(app, 'https://elsewhere.example.com')
    other = await startTestApp({ ...settings, OIDC_SCIM_CLAIM: 'oid' }, app.connection)
  })
  beforeEach(() => stub.does({}))
  after(async () => {
    await other.close()
    await app.close()
    await stub.close()
  })

  let n = 0
  const newName = () => `person-${++n}`
  const ask: DirectoryClient['ask'] = (...args) => directory.ask(...args)
  const add = async (name: string, externalId = name, more: object = {}) => {
    const { status, json, text } = await ask('POST', '/Users', { ...entraUser(name, externalId), ...more })
    expect(status, text).to.equal(201)
    return String(json['id'])
  }
  const addGroup = async (displayName: string, members: readonly string[] = [], more: object = {}) => {
    const body = { displayName, members: members.map((value) => ({ value })), ...more }
    const { status, json, text } = await ask('POST', '/Groups', body)
    expect(status, text).to.equal(201)
    return String(json['id'])
  }
  const setActive = async (id: string, active: boolean) => {
    const answer = await ask('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active } }))
    expect(answer.status, answer.text).to.equal(200)
  }
  const browserOf = (of = app) => openBrowser(of.app.baseUrl)
  type Browser = ReturnType<typeof browserOf>
  const tryEnter = async (who: Readonly<Record<string, unknown>>, browser = browserOf()) => {
    stub.knows(who)
    const begun = await browser.open('/oidc/sign-in')
    return browser.open(stub.answerTo(begun.headers.get('Location')))
  }
  const enter = async (who: string | Readonly<Record<string, unknown>>, browser = browserOf()) => {
    const answer = await tryEnter(typeof who === 'string' ? { sub: who } : who, browser)
    expect(answer.status, await answer.text()).to.equal(303)
    return browser
  }
  const codeOf = async (answer: Response) => (JSON.parse(await answer.text()) as { code: string }).code
  const statusOf = async (browser: Browser) => (await browser.ask('GET', '/api/account')).status
  const idOf = async (browser: Browser) => Number((await browser.ask('GET', '/api/account')).json['data'].id)
  const rolesOf = async (browser: Browser) => {
    const { json } = await browser.ask('GET', '/api/memberships')
    const all = json['data'].memberships as { role: string; own: boolean }[]
    return all.filter(({ own }) => !own).map(({ role }) => role)
  }
  /** Makes a key of a member in the account of the team. */
  const keyOf = async (browser: Browser) => {
    const inTeam = { 'Linkledger-Account': String(acme.id) }
    const { json, text } = await browser.ask('POST', '/api/key/add', { name: 'work', scopes: ['read'] }, inTeam)
    expect(json['error'], text).to.equal(0)
    return String(json['key'])
  }
  const usesKey = async (key: string, of = app) => (await of.get('/api/urls', { key })).status

  describe('as Entra does', () => {
    it('finds no user at first, and gets an empty list', async () => {
      const { status, json, headers } = await ask('GET', filtered('Users', 'userName eq "nobody-1f0e"'))
      expect(status).to.equal(200)
      expect(headers.get('Content-Type')).to.match(/^application\/scim\+json/)
      const [totalResults, startIndex, itemsPerPage] = [0, 1, 0]
      expect(json).to.deep.equal({ schemas: [listSchema], totalResults, startIndex, itemsPerPage, Resources: [] })
    })

    it('creates a user, finds them by each of its filters, and gets back the same attributes', async () => {
      const name = newName()
      const id = await add(name, `oid-${name}`)
      const filters = [
        `userName eq "${name.toUpperCase()}@example.com"`,
        `externalId eq "oid-${name}"`,
        `emails[type eq "work"].value eq "${name}@work.example.com"`,
        `externalId eq "oid-${name}" and userName eq "${name}@example.com"`,
        `urn:ietf:params:scim:schemas:core:2.0:User:userName eq "${name}@example.com"`,
        `id eq "${id}"`,
      ]
      for (const filter of filters) {
        const { json } = await ask('GET', filtered('Users', filter))
        expect(
          json['Resources'].map((one: { id: string }) => one.id),
          filter,
        ).to.deep.equal([id])
      }
      const { json } = await ask('GET', `/Users/${id}`)
      const { roles: _, meta: _m, schemas: _s, ...sent } = entraUser(name, `oid-${name}`)
      const { 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': _e, ...kept } = sent
      expect(json).to.deep.include({ id, ...kept })
      expect(json['meta']).to.include({ resourceType: 'User', location: `${app.app.baseUrl}/scim/v2/Users/${id}` })
    })

    it('changes a user with capital letters, texts for booleans, and paths with filters', async () => {
      const name = newName()
      const id = await add(name)
      const { status, json } = await ask(
        'PATCH',
        `/Users/${id}`,
        patchOf(
          { op: 'Replace', path: 'emails[type eq "work"].value', value: `new-${name}@example.com` },
          { op: 'Add', path: 'name.familyName', value: 'Jones' },
          { op: 'Replace', path: 'active', value: 'False' },
          { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'HR' },
          { op: 'Remove', path: 'displayName' },
          { op: 'replace', value: { 'name.givenName': 'Ann', userName: `${name}@new.example.com` } },
        ),
      )
      expect(status).to.equal(200)
      expect(json)
        .to.include({ active: false, userName: `${name}@new.example.com` })
        .and.not.have.property('displayName')
      expect(json['name']).to.include({ familyName: 'Jones', givenName: 'Ann' })
      expect(json['emails']).to.deep.equal([{ primary: true, type: 'work', value: `new-${name}@example.com` }])
    })

    it('makes groups, finds them without their members, and removes one of two members', async () => {
      const [ann, bob] = [await add(newName()), await add(newName())]
      const name = `Team ${n}`
      const id = await addGroup(name, [ann], { externalId: `g-${n}` })
      const found = await ask('GET', filtered('Groups', `displayName eq "${name}"`, '&excludedAttributes=members'))
      expect(found.json['Resources']).to.have.length(1)
      expect(found.json['Resources'][0]).to.include({ id, displayName: name }).and.not.have.property('members')
      const change = async (...operations: readonly object[]) => {
        expect((await ask('PATCH', `/Groups/${id}`, patchOf(...operations))).status).to.equal(204)
        const { json } = await ask('GET', `/Groups/${id}`)
        return (json['members'] as { value: string }[]).map(({ value }) => value).sort()
      }
      const [one, two] = [[{ value: ann }], [{ value: bob }]]
      expect(await change({ op: 'Add', path: 'members', value: two })).to.deep.equal([ann, bob].sort())
      expect(await change({ op: 'Remove', path: 'members', value: one })).to.deep.equal([bob])
      expect(await change({ op: 'add', path: 'members', value: one })).to.deep.equal([ann, bob].sort())
      expect(await change({ op: 'remove', path: `members[value eq "${bob}"]` })).to.deep.equal([ann])
      expect(await change({ op: 'replace', path: 'members', value: two })).to.deep.equal([bob])
      expect(await change({ op: 'remove', path: 'members' })).to.deep.equal([])
      const excluded = await ask('GET', `/Groups/${id}?excludedAttributes=members`)
      expect(excluded.json).not.to.have.property('members')
      expect((await ask('DELETE', `/Groups/${id}`)).status).to.equal(204)
      expect((await ask('GET', `/Groups/${id}`)).status).to.equal(404)
    })

    it('keeps the members of a group whom a change does not name', async () => {
      const [ann, bob, eve] = [await add(newName()), await add(newName()), await add(newName())]
      const id = await addGroup(`Kept ${n}`, [ann, bob])
      const change = async (operation: object) => {
        const { status, json } = await ask('PATCH', `/Groups/${id}`, patchOf(operation))
        const group = await ask('GET', `/Groups/${id}`)
        const members = (group.json['members'] as { value: string }[]).map(({ value }) => value).sort()
        return { status, scimType: json['scimType'] as unknown, members }
      }
      const both = { status: 204, scimType: undefined, members: [ann, bob].sort() }
      const ofAnn = `members[value eq "${ann}"]`
      expect(await change({ op: 'replace', path: `${ofAnn}.display`, value: 'Ann' })).to.deep.equal(both)
      expect(await change({ op: 'remove', path: `${ofAnn}.display` })).to.deep.equal(both)
      expect(await change({ op: 'replace', path: 'members.display', value: 'Ann' })).to.deep.equal(both)
      const refused = { ...both, status: 400 }
      for (const op of ['remove', 'replace', 'add'])
        expect(await change({ op, path: 'members.value', ...(op !== 'remove' && { value: ann }) })).to.deep.equal({
          ...refused,
          scimType: 'noTarget',
        })
      for (const value of [null, [null], [{ value: null }]])
        expect(await change({ op: 'remove', path: 'members', value })).to.deep.equal({
          ...refused,
          scimType: 'invalidValue',
        })
      const unknown = { op: 'replace', path: `members[value eq "${eve}"]`, value: [{ value: ann }] }
      expect(await change(unknown)).to.deep.equal({ ...refused, scimType: 'noTarget' })
      const { members } = await change({ op: 'replace', path: ofAnn, value: [{ value: eve }] })
      expect(members).to.deep.equal([bob, eve].sort())
      expect((await change({ op: 'remove', path: 'members' })).members).to.deep.equal([])
    })

    it('changes a user by attributes below the schema, and gets an error for changes without effect', async () => {
      const id = await add(newName())
      const schema = 'urn:ietf:params:scim:schemas:core:2.0:User'
      const change = (...operations: readonly object[]) => ask('PATCH', `/Users/${id}`, patchOf(...operations))
      const forms = [
        { op: 'replace', value: { [schema]: { active: false } } },
        { op: 'replace', path: schema, value: { active: false } },
        { op: 'replace', path: `${schema}:active`, value: false },
        { op: 'replace', path: `${schema}.active`, value: 'False' },
      ]
      for (const form of forms) {
        await setActive(id, true)
        const { status, json, text } = await change(form)
        expect([status, json['active']], `${JSON.stringify(form)} ${text}`).to.deep.equal([200, false])
      }
      const wrong = [
        { op: 'replace', value: { [schema]: false } },
        { op: 'replace', value: { [schema]: { [schema]: { active: true } } } },
        { op: 'replace', path: 'active[value eq "true"]', value: true },
        { op: 'replace', path: 'active.value', value: true },
        { op: 'replace', path: 'active', value: { toString: 1 } as object },
        { op: 'replace', path: 'externalId.value', value: 'x' },
      ]
      for (const form of wrong) expect((await change(form)).status, JSON.stringify(form)).to.equal(400)
      expect((await ask('GET', `/Users/${id}`)).json['active']).to.equal(false)
    })

    it('deletes a user, whom it can make again', async () => {
      const name = newName()
      const id = await add(name)
      expect((await ask('DELETE', `/Users/${id}`)).status).to.equal(204)
      expect((await ask('GET', `/Users/${id}`)).status).to.equal(404)
      expect((await ask('PATCH', `/Users/${id}`, patchOf({ op: 'add', value: { active: true } }))).status).to.equal(404)
      expect(await add(name)).not.to.equal(id)
    })
  })

  describe('as Okta does', () => {
    it('reads the capabilities of the service, with numbers as numbers', async () => {
      const { json } = await ask('GET', '/Users?startIndex=1&count=2')
      expect(json['startIndex']).to.equal(1)
      expect(json['totalResults']).to.be.a('number')
      expect(json['Resources'].length).to.be.at.most(2)
      const config = await ask('GET', '/ServiceProviderConfig')
      expect(config.json).to.deep.include({ patch: { supported: true }, filter: { supported: true, maxResults: 200 } })
      expect((await ask('GET', '/ResourceTypes')).json['totalResults']).to.equal(2)
      const schemas = await ask('GET', '/Schemas')
      expect(schemas.json['Resources'].map(({ name }: { name: string }) => name)).to.deep.equal(['User', 'Group'])
      expect(schemas.text).not.to.include('null')
      const [{ id }] = schemas.json['Resources']
      expect((await ask('GET', `/Schemas/${id}`)).json['name']).to.equal('User')
    })

    it('creates a user, and replaces them as a whole: omitted attributes neither restore access nor detach the account', async () => {
      const name = newName()
      const id = await add(name)
      const { json: before } = await ask('GET', `/Users/${id}`)
      const put = (body: object) => ask('PUT', `/Users/${id}`, body, 'application/json; charset=utf-8')
      const off = await put({
        ...before,
        active: false,
        name: { givenName: 'Ann', familyName: 'Jones' },
        password: 'x',
      })
      expect(off.status, off.text).to.equal(200)
      expect(off.json).to.deep.include({ id, active: false, name: { givenName: 'Ann', familyName: 'Jones' } })
      const short = await put({ userName: `${name}@example.com` })
      expect(short.json).to.include({ active: false, externalId: name }).and.not.have.property('emails')
    })

    it('ends and gives back access without a path, and pages through groups', async () => {
      const id = await add(newName())
      for (const active of [false, true]) {
        const { json } = await ask('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active } }))
        expect(json['active']).to.equal(active)
      }
      const group = await addGroup(`Okta ${n}`, [id])
      const { json } = await ask('GET', '/Groups?startIndex=1&count=100')
      expect(json['Resources'].map((one: { id: string }) => one.id)).to.include(group)
      const renamed = await ask('PUT', `/Groups/${group}`, { displayName: `Renamed ${n}`, members: [] })
      expect(renamed.json).to.deep.include({ displayName: `Renamed ${n}`, members: [] })
    })

    it('gets an error for a name that is taken', async () => {
      const name = newName()
      await add(name)
      const again = await ask('POST', '/Users', entraUser(name, 'another'))
      expect(again.status).to.equal(409)
      expect(again.json).to.deep.include({ schemas: [errorSchema], status: '409', scimType: 'uniqueness' })
      expect((await ask('POST', '/Users', entraUser(newName(), name))).status).to.equal(409)
      await addGroup(`Same ${n}`)
      expect((await ask('POST', '/Groups', { displayName: `same ${n}` })).status).to.equal(409)
    })
  })

  describe('joins users with the people who sign in', () => {
    it('at their first sign-in, when it has sent them before', async () => {
      const name = newName()
      const id = await add(name)
      const browser = await enter(name)
      await setActive(id, false)
      expect(await statusOf(browser)).to.equal(401)
    })

    it('when it sends them, if they have signed in before', async () => {
      const name = newName()
      const browser = await enter(name)
      await add(name, name, { active: false })
      expect(await statusOf(browser)).to.equal(401)
    })

    it('by the claim that is named, before and after their first sign-in, and never by an address', async () => {
      const name = newName()
      const who = { sub: `sub-${name}`, oid: `oid-${name}`, email: `${name}@work.example.com`, email_verified: true }
      const browser = await enter(who, browserOf(other))
      const viaOther = await openDirectoryClient(other, stub.address)
      const send = (user: object) => viaOther.ask('POST', '/Users', { ...user, active: false })
      await send({ ...entraUser(`${name}-b`, who.sub), emails: [{ type: 'work', value: who.email }] })
      expect(await statusOf(browser)).to.equal(200)
      const made = await send(entraUser(name, who.oid))
      expect(made.status, made.text).to.equal(201)
      expect(await statusOf(browser)).to.equal(401)

      const late = newName()
      await send(entraUser(late, `oid-${late}`))
      expect(await codeOf(await tryEnter({ sub: `sub-${late}`, oid: `oid-${late}` }, browserOf(other)))).to.equal(
        'deactivated',
      )
    })

    it('also when a person signs in while the directory ends their access: one of both sees the other', async () => {
      const names = Array.from({ length: 5 }, newName)
      const ids = await Promise.all(names.map((name) => add(name)))
      for (const [i, name] of names.entries()) {
        const browser = browserOf()
        await Promise.all([tryEnter({ sub: name }, browser), setActive(ids[i]!, false)])
        expect(await statusOf(browser)).to.be.oneOf([401, 403])
        expect(await codeOf(await tryEnter({ sub: name }))).to.equal('deactivated')
      }
    })
  })

  describe('ends access', () => {
    it('from the request on: sessions, sign-ins, and keys in all accounts, in all processes, and gives it back', async () => {
      const name = newName()
      const id = await add(name)
      const group = await addGroup('admins', [id])
      const browser = await enter(name)
      expect(await rolesOf(browser)).to.deep.equal(['admin'])
      const key = await keyOf(browser)
      const { json: own } = await browser.ask('POST', '/api/key/add', { name: 'own', scopes: ['read'] })
      const ownKey = String(own['key'])
      const account = await idOf(browser)
      for (const one of [key, ownKey]) expect([await usesKey(one), await usesKey(one, other)]).to.deep.equal([200, 200])

      await setActive(id, false)
      expect(await statusOf(browser)).to.equal(401)
      expect([await usesKey(key), await usesKey(ownKey)]).to.deep.equal([401, 403])
      expect(await usesKey(acme.key)).to.equal(200)
      const refused = await tryEnter({ sub: name })
      expect([refused.status, await codeOf(refused)]).to.deep.equal([403, 'deactivated'])
      const { state } = await app.app.ledger.handler.load(accounts, account)
      expect(state).to.include({ status: 'active', deactivated: true })
      expect(state.keys.keys).to.have.length(1)

      await setActive(id, true)
      expect([await usesKey(key), await usesKey(ownKey)]).to.deep.equal([200, 200])
      expect(await statusOf(browser)).to.equal(401)
      const again = await enter(name)
      expect(await rolesOf(again)).to.deep.equal(['admin'])
      await ask('DELETE', `/Groups/${group}`)
    })

    it('holds in another process as soon as it hears of it', async () => {
      const name = newName()
      const id = await add(name)
      const group = await addGroup('admins', [id])
      const browser = await enter(name)
      const key = await keyOf(browser)
      expect(await usesKey(key, other)).to.equal(200)
      await setActive(id, false)
      await until(
        () => usesKey(key, other),
        (status) => status === 401,
      )
      await ask('DELETE', `/Groups/${group}`)
    })

    it('of a deleted user, and of one who never signed in, also after that', async () => {
      const [name, never] = [newName(), newName()]
      const [id, before] = [await add(name), await add(never)]
      const browser = await enter(name)
      expect((await ask('DELETE', `/Users/${id}`)).status).to.equal(204)
      expect(await statusOf(browser)).to.equal(401)
      expect(await codeOf(await tryEnter({ sub: name }))).to.equal('deactivated')
      await setActive(before, false)
      expect(await codeOf(await tryEnter({ sub: never }))).to.equal('deactivated')
      await ask('DELETE', `/Users/${before}`)
      expect(await codeOf(await tryEnter({ sub: never }))).to.equal('deactivated')
      await add(name)
      await add(never)
      await enter(name)
      await enter(never)
    })

    it('until the operator gives it back: the directory may be gone', async () => {
      const name = newName()
      const id = await add(name)
      const account = await idOf(await enter(name))
      await setActive(id, false)
      const { handler } = app.app.ledger
      await handler.handle(accounts, { type: 'ReactivateAccount', id: account }, systemMetadata(account))
      await enter(name)
    })

    it('of a password and a passkey, too: the sign-in says why', async () => {
      const { id, email } = await app.register(newName())
      const { handler } = app.app.ledger
      await handler.handle(accounts, { type: 'DeactivateAccount', id }, systemMetadata(id))
      const { status, json } = await browserOf().ask('POST', '/api/session', { email, password })
      expect(status).to.equal(403)
      expect(json).to.deep.include({ code: 'account_disabled', params: { what: 'directory' } })
    })

    it('leaves the links of the account as they are', async () => {
      const name = newName()
      const id = await add(name)
      const browser = await enter(name)
      const { json } = await browser.ask('POST', '/api/url/add', { url: 'https://example.com/kept' })
      const path = new URL(String(json['shorturl'])).pathname
      await setActive(id, false)
      expect((await app.visit(path)).status).to.equal(302)
    })
  })

  describe('gives roles by its groups', () => {
    it('at once: of members who come and go, of one of two, by a new name, and by the end of a group', async () => {
      const [ann, bob] = [newName(), newName()]
      const ids = [await add(ann), await add(bob)]
      const [one, two] = [await enter(ann), await enter(bob)]
      const both = async () => [await rolesOf(one), await rolesOf(two)]
      const group = await addGroup('editors', ids)
      expect(await both()).to.deep.equal([['editor'], ['editor']])
      await ask('PATCH', `/Groups/${group}`, patchOf({ op: 'remove', path: 'members', value: [{ value: ids[0] }] }))
      expect(await both()).to.deep.equal([[], ['editor']])
      await ask('PATCH', `/Groups/${group}`, patchOf({ op: 'replace', path: 'displayName', value: 'others' }))
      expect(await both()).to.deep.equal([[], []])
      await ask('PATCH', `/Groups/${group}`, patchOf({ op: 'replace', value: { externalId: '7f-external' } }))
      expect(await both()).to.deep.equal([[], ['analyst']])
      await ask('DELETE', `/Groups/${group}`)
      expect(await both()).to.deep.equal([[], []])
    })

    it('together with those that the issuer names, of which the highest counts', async () => {
      const name = newName()
      const id = await add(name)
      const browser = await enter({ sub: name, groups: ['editors'] })
      const group = await addGroup('admins', [id])
      expect(await rolesOf(browser)).to.deep.equal(['admin'])
      await ask('DELETE', `/Groups/${group}`)
      expect(await rolesOf(browser)).to.deep.equal(['editor'])
      const again = await addGroup('admins', [id])
      await enter({ sub: name, groups: [] }, browser)
      expect(await rolesOf(browser)).to.deep.equal(['admin'])
      await ask('DELETE', `/Users/${id}`)
      const { json } = await ask('GET', `/Groups/${again}`)
      expect(json['members']).to.deep.equal([])
      await ask('DELETE', `/Groups/${again}`)
    })

    it('before the first sign-in, when two groups add a user at the same moment', async () => {
      const name = newName()
      const id = await add(name)
      const [one, two] = [await addGroup('editors'), await addGroup('admins')]
      const browser = await enter(name)
      const change = (op: string, group: string) =>
        ask('PATCH', `/Groups/${group}`, patchOf({ op, path: 'members', value: [{ value: id }] }))
      await Promise.all([change('add', one), change('add', two)])
      expect(await rolesOf(browser)).to.deep.equal(['admin'])
      await Promise.all([change('remove', two), change('remove', one)])
      expect(await rolesOf(browser)).to.deep.equal([])
      await Promise.all([one, two].map((group) => ask('DELETE', `/Groups/${group}`)))
    })

    it('never of a directory of another issuer', async () => {
      const name = newName()
      const browser = await enter(name)
      const { json: user } = await foreign.ask('POST', '/Users', entraUser(name, name))
      await foreign.ask('POST', '/Groups', { displayName: 'admins', members: [{ value: user['id'] }] })
      expect(await rolesOf(browser)).to.deep.equal([])
    })
  })

  describe('is refused', () => {
    it('at a user or group of another issuer', async () => {
      const name = newName()
      const [id, group] = [await add(name), await addGroup(`Own ${n}`)]
      const browser = await enter(name)
      for (const path of [`/Users/${id}`, `/Groups/${group}`]) {
        expect((await foreign.ask('GET', path)).status).to.equal(404)
        expect((await foreign.ask('PATCH', path, patchOf({ op: 'add', value: { active: false } }))).status).to.equal(
          404,
        )
        expect((await foreign.ask('PUT', path, { userName: 'x', displayName: 'x' })).status).to.equal(404)
        expect((await foreign.ask('DELETE', path)).status).to.equal(404)
      }
      expect((await foreign.ask('GET', filtered('Users', `externalId eq "${name}"`))).json['totalResults']).to.equal(0)
      await foreign.ask('POST', '/Users', { ...entraUser(name, name), active: false })
      expect(await statusOf(browser)).to.equal(200)
      const joined = await foreign.ask('POST', '/Groups', { displayName: `x ${n}`, members: [{ value: id }] })
      expect(joined.status).to.equal(400)
    })

    it('without a key, with one that has ended, and with a key of the API or a session, which open nothing else', async () => {
      const statusWith = async (headers: Record<string, string>, path = '/scim/v2/Users') =>
        (await fetch(app.app.baseUrl + path, { headers })).status
      const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })
      const browser = await enter(newName())
      const cookie = { Cookie: `linkledger_session=${browser.cookie('linkledger_session')}` }
      for (const headers of [{}, bearer(acme.key), bearer('llscim_x'), cookie, bearer(`llscim_${'a'.repeat(43)}`)])
        expect(await statusWith(headers)).to.equal(401)
      expect(await statusWith(bearer(directory.key))).to.equal(200)
      expect(await statusWith(bearer(directory.key), '/api/urls')).to.equal(401)
      expect(await statusWith(bearer(directory.key), '/api/account')).to.equal(401)
      const ended = await openDirectoryClient(app, stub.address)
      await app.app.ledger.db('state.directory_keys').where({ id: ended.number }).delete()
      expect(await statusWith(bearer(ended.key))).to.equal(401)
    })

    it('with a message, and never with 500, for any request', async () => {
      const id = await add(newName())
      const group = await addGroup(`Hostile ${n}`)
      const deep = '['.repeat(40) + ']'.repeat(40)
      const wrong: readonly (readonly [method: string, path: string, body?: unknown])[] = [
        ['GET', filtered('Users', 'a'.repeat(5000))],
        ['GET', filtered('Users', `userName eq "${'('.repeat(900)}`)],
        ['GET', filtered('Users', '(((userName eq "x")))')],
        ['GET', filtered('Users', 'userName eq "x" and')],
        ['GET', filtered('Users', 'userName eq "x" or userName eq "y"')],
        ['GET', filtered('Users', 'userName co "x"')],
        ['GET', filtered('Users', '__proto__ eq "x"')],
        ['GET', filtered('Groups', 'constructor eq "x"')],
        ['GET', filtered('Groups', 'displayName eq "a\\u0000b"')],
        ['GET', filtered('Groups', 'externalId eq "\u0000"')],
        ['GET', filtered('Users', 'userName eq "a\\u0000"')],
        ['GET', '/Users?count=ten'],
        ['GET', '/Users/1'],
        ['GET', '/Users/%00'],
        ['GET', '/Nothing'],
        ['POST', '/Users', '{'],
        ['POST', '/Users', deep],
        ['POST', '/Users', '[]'],
        ['POST', '/Users', {}],
        ['POST', '/Users', { userName: 7 }],
        ['POST', '/Users', { userName: 'x'.repeat(300) }],
        ['POST', '/Users', { userName: 'a\u0000b' }],
        ['POST', '/Users', { userName: 'x', active: 'perhaps' }],
        ['POST', '/Users', { userName: 'x', emails: [{ value: {} }] }],
        ['POST', '/Users', { userName: 'x', emails: Array.from({ length: 21 }, () => ({ value: 'a' })) }],
        ['PUT', `/Users/${id}`, { name: [] }],
        ['PATCH', `/Users/${id}`, {}],
        ['PATCH', `/Users/${id}`, { Operations: {} }],
        ['PATCH', `/Users/${id}`, patchOf({ op: 'destroy', path: 'active' })],
        ['PATCH', `/Users/${id}`, patchOf({ op: 'remove' })],
        ['PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'emails[[[', value: 1 })],
        ['PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'x'.repeat(3000), value: 1 })],
        ['PATCH', `/Users/${id}`, patchOf({ op: 'remove', path: 'userName' })],
        ['PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active' })],
        ['PATCH', `/Users/${id}`, { Operations: [null] }],
        ['PATCH', `/Users/${id}`, patchOf(...Array.from({ length: 1001 }, () => ({ op: 'add', value: {} })))],
        ['PATCH', `/Groups/${group}`, patchOf({ op: 'add', path: 'members', value: [{ value: 'x' }] })],
        ['PATCH', `/Groups/${group}`, patchOf({ op: 'add', path: 'members', value: [{ value: crypto.randomUUID() }] })],
        ['PATCH', `/Groups/${group}`, patchOf({ op: 'remove', path: 'displayName' })],
        ['PATCH', `/Groups/${group}`, patchOf({ op: 'remove', path: 'members[display eq "x"]' })],
        ['PATCH', `/Groups/${group}`, patchOf({ op: 'replace', path: `members[value eq "${id}"]`, value: [] })],
        ['PATCH', `/Groups/${group}`, patchOf({ op: 'replace', path: 'members' })],
        ['POST', '/Groups', { displayName: { a: 1 } }],
        ['DELETE', '/Users'],
        ['POST', '/Schemas', {}],
        ['PATCH', '/Users', patchOf()],
      ]
      for (const [method, path, body] of wrong) {
        const { status, json, text } = await ask(method, path, body)
        expect(status, `${method} ${path.slice(0, 80)} ${JSON.stringify(body)?.slice(0, 80)} ${text}`).to.be.within(
          400,
          499,
        )
        expect(json).to.deep.include({ schemas: [errorSchema], status: String(status) })
        expect(json['detail']).to.be.a('string')
      }
      expect((await ask('POST', '/Users', 'x'.repeat(1024 * 1024 + 1))).status).to.equal(413)
      const many = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`name.x${i}`, 1]))
      const schema = 'urn:ietf:params:scim:schemas:core:2.0:User'
      expect((await ask('POST', '/Users', { userName: 'many', ...many(1000) })).status).to.equal(413)
      const spread = [
        Array.from({ length: 20 }, () => ({ op: 'add', value: many(100) })),
        Array.from({ length: 20 }, () => ({ op: 'add', value: { [schema]: many(100) } })),
      ]
      for (const operations of spread)
        expect((await ask('PATCH', `/Users/${id}`, patchOf(...operations))).status).to.equal(413)
      expect((await ask('POST', '/Users', '{}', 'text/plain')).status).to.equal(415)
      const unknown = {
        ...entraUser(newName(), `u-${n}`),
        constructor: 1,
        'x y': [],
        photos: [{}],
        manager: { a: { b: 1 } },
      }
      expect((await ask('POST', '/Users', unknown)).status).to.equal(201)
    })

    it('more than so many wrong keys of a network in a minute', async () => {
      const answers = await Promise.all(
        Array.from({ length: 70 }, () =>
          fetch(`${app.app.baseUrl}/scim/v2/Users`, { headers: { Authorization: 'Bearer x' } }),
        ),
      )
      expect(answers.map(({ status }) => status)).to.include(429)
      expect((await ask('GET', '/Users?count=0')).status).to.equal(200)
    })
  })

  it('keeps nothing of a person in clear, and an id and a keyed hash alone once the account is erased', async () => {
    const name = newName()
    const id = await add(name)
    const account = await idOf(await enter(name))
    const { db, handler } = app.app.ledger
    const rows = () => db('state.directory_users').where({ id })
    expect(JSON.stringify(await rows())).not.to.include(name)
    await handler.handle(accounts, { type: 'EraseAccount', id: account }, systemMetadata(account))
    await until(
      async () => [
        ...(await rows().where({ account })),
        ...(await db('state.directory_people').where({ account })),
        ...(await db('state.directory_held').where({ account })),
      ],
      (left) => left.length === 0,
    )
    const [left] = (await rows()) as readonly object[]
    expect(left).to.include({ sealed: '', name: null, email: null, account: null })
    const { json } = await ask('GET', `/Users/${id}`)
    expect(json).to.include({ id, userName: id, active: true }).and.not.have.property('externalId')
  })
})
