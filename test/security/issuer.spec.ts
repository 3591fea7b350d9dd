import { expect } from 'chai'
import type { GroupSource } from '../../src/security/claims.ts'
import { begin, isFresh, openIssuer } from '../../src/security/issuer.ts'
import { NotSignedIn } from '../../src/security/notsignedin.ts'
import { type Mischief, startStubIssuer, type StubIssuer } from '../support/issuer.ts'

describe('signing in with an issuer', () => {
  let stub: StubIssuer
  const issuerOf = (own = stub, claims: object = {}) =>
    openIssuer({
      issuer: own.address,
      clientId: 'linkledger',
      clientSecret: 'a secret',
      scopes: 'openid email profile',
      redirect: 'http://localhost:3000/oidc/callback',
      claims: {
        email: 'email',
        verified: 'email_verified',
        name: 'name',
        groups: 'groups',
        directory: 'sub',
        ...claims,
      },
    })
  before(async () => {
    stub = await startStubIssuer()
  })
  beforeEach(() => {
    stub.does({})
    stub.knows({ sub: 'ann' })
  })
  after(() => stub.close())

  const signIn = async (issuer = issuerOf(), own = stub) => {
    const begun = begin()
    return issuer.personOf(own.signIn(await issuer.addressFor(begun, false)), begun)
  }
  const hindrance = async (signing: Promise<unknown>) => {
    const error: unknown = await signing.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).to.be.instanceOf(NotSignedIn)
    return error as NotSignedIn
  }

  it('requests a code with PKCE, state and nonce, and a fresh sign-in only where it must', async () => {
    const begun = begin()
    const query = new URL(await issuerOf().addressFor(begun, false)).searchParams
    expect(query.get('response_type')).to.equal('code')
    expect(query.get('code_challenge_method')).to.equal('S256')
    expect(query.get('redirect_uri')).to.equal('http://localhost:3000/oidc/callback')
    expect([query.get('state'), query.get('nonce')]).to.deep.equal([begun.state, begun.nonce])
    expect(query.has('max_age')).to.equal(false)
    expect(query.toString()).not.to.include(begun.verifier)
    expect(new URL(await issuerOf().addressFor(begun, true)).searchParams.get('max_age')).to.equal('0')
  })

  it('returns issuer and subject, and the claims of the ID token and the userinfo', async () => {
    stub.does({ userinfo: { sub: 'ann', email: 'ann@example.com', email_verified: true, name: 'Ann' } })
    const { authTime, ...person } = await signIn()
    expect(person).to.deep.equal({
      issuer: stub.address,
      subject: 'ann',
      email: 'ann@example.com',
      verified: true,
      name: 'Ann',
      groups: [],
      groupsFrom: [],
      externalId: 'ann',
      refreshToken: undefined,
      sid: undefined,
    })
    expect(authTime).to.be.a('number')
  })

  it('takes an issuer that signs with ES256', async () => {
    const other = await startStubIssuer('ES256')
    try {
      expect((await signIn(issuerOf(other), other)).subject).to.equal('ann')
    } finally {
      await other.close()
    }
  })

  const refused: readonly (readonly [title: string, does: Mischief, says: RegExp])[] = [
    ['for another nonce', { claims: { nonce: 'other' } }, /nonce/],
    ['of another issuer', { claims: { iss: 'https://evil.example.com' } }, /iss/],
    ['for another client', { claims: { aud: 'other' } }, /aud/],
    ['that has ended', { claims: { exp: 1_700_000_000 } }, /exp/],
    ['without a signature (alg none)', { header: { alg: 'none' } }, /must be signed/],
    ['signed with the secret of the client (HS256)', { header: { alg: 'HS256' } }, /must be signed/],
    ['signed with another key', { forged: true }, /signature/],
  ]
  for (const [title, does, says] of refused)
    it(`refuses an ID token ${title}`, async () => {
      stub.does(does)
      const { why, message } = await hindrance(signIn())
      expect(why).to.equal('answer')
      expect(message).to.match(says)
    })

  it('refuses an answer with another state, of another issuer, or without its name', async () => {
    const issuer = issuerOf()
    for (const change of [{ state: 'other' }, { iss: 'https://evil.example.com' }, { iss: undefined }]) {
      const begun = begin()
      const query = stub.signIn(await issuer.addressFor(begun, false))
      for (const [name, value] of Object.entries(change))
        if (value === undefined) query.delete(name)
        else query.set(name, value)
      expect((await hindrance(issuer.personOf(query, begun))).why, JSON.stringify(change)).to.equal('answer')
    }
  })

  it('refuses a code that was used', async () => {
    const issuer = issuerOf()
    const begun = begin()
    const query = stub.signIn(await issuer.addressFor(begun, false))
    await issuer.personOf(query, begun)
    expect((await hindrance(issuer.personOf(query, begun))).message).to.include('invalid_grant')
  })

  it('refuses userinfo about another person', async () => {
    stub.does({ userinfo: { sub: 'bob', email: 'ann@example.com', email_verified: true } })
    expect((await hindrance(signIn())).why).to.equal('answer')
  })

  it('reports a refused or cancelled sign-in', async () => {
    const issuer = issuerOf()
    const begun = begin()
    await issuer.addressFor(begun, false)
    const query = new URLSearchParams({ error: 'access_denied', state: begun.state, iss: stub.address })
    expect((await hindrance(issuer.personOf(query, begun))).why).to.equal('refused')
  })

  it('counts an address as verified only when that is said of this address, and nothing says otherwise', async () => {
    const cases: readonly (readonly [claims: object, userinfo: object, verified: boolean])[] = [
      [{ email: 'a@x.com' }, {}, false],
      [{ email: 'a@x.com', email_verified: false }, {}, false],
      [{ email: 'a@x.com', email_verified: true }, {}, true],
      [{ email: 'a@x.com', email_verified: 'true' }, {}, true],
      [{ email: 'a@x.com' }, { email_verified: true }, true],
      [{ email: 'a@x.com' }, { email: 'b@x.com', email_verified: true }, false],
      [{ email: 'a@x.com', email_verified: true }, { email: 'a@x.com', email_verified: false }, false],
    ]
    for (const [claims, userinfo, verified] of cases) {
      stub.knows({ sub: 'ann', ...claims })
      stub.does({ userinfo: { sub: 'ann', ...userinfo } })
      const { email, verified: found } = await signIn()
      expect([email, found], JSON.stringify([claims, userinfo])).to.deep.equal(['a@x.com', verified])
    }
  })

  it('reads groups again from the responses, and treats them as unknown when their former source is missing', async () => {
    type Case = readonly [before: readonly GroupSource[], does: Mischief, groups: readonly string[] | undefined]
    const [without, withNone, some] = [{ sub: 'ann' }, { sub: 'ann', groups: [] }, { sub: 'ann', groups: ['a'] }]
    const noUserinfo = { metadata: { userinfo_endpoint: undefined } }
    const cases: readonly Case[] = [
      // an answer without an ID token
      [['token'], { bare: true, userinfo: without }, undefined],
      [['userinfo'], { bare: true, userinfo: without }, []],
      [['token', 'userinfo'], { bare: true, userinfo: without }, []],
      [['token'], { bare: true, userinfo: withNone }, []],
      [['token'], { bare: true, userinfo: some }, ['a']],
      [[], { bare: true, userinfo: without }, undefined],
      [['token'], { bare: true, ...noUserinfo }, undefined],
      // one with an ID token that has no groups
      [['token'], { userinfo: without }, []],
      [['userinfo'], { userinfo: without }, []],
      [['userinfo'], { userinfo: some }, ['a']],
      [['userinfo'], noUserinfo, undefined],
      [[], { userinfo: without }, []],
      // one that says that it leaves them out
      [['token'], { claims: { _claim_names: { groups: 'src1' } }, userinfo: without }, undefined],
    ]
    for (const [before, does, groups] of cases) {
      stub.does({ refreshes: true, ...does })
      const again = await issuerOf().refresh('refresh', 'ann', before)
      expect(again.groups, JSON.stringify([before, does])).to.deep.equal(groups)
    }
    stub.does({ userinfo: some })
    expect(await signIn()).to.deep.include({ groups: ['a'], groupsFrom: ['userinfo'] })
    stub.does({ claims: { groups: ['b'] }, userinfo: some })
    expect(await signIn()).to.deep.include({ groups: ['b'], groupsFrom: ['token', 'userinfo'] })
  })

  it('reads other claims where the settings name them', async () => {
    stub.knows({ sub: 'ann', upn: 'ann@example.com', xms_edov: '1', preferred_username: 'ann' })
    const person = await signIn(issuerOf(stub, { email: 'upn', verified: 'xms_edov', name: 'preferred_username' }))
    expect(person).to.include({ email: 'ann@example.com', verified: true, name: 'ann' })
    stub.knows({ sub: 'ann', email: 'ann@example.com' })
    expect((await signIn(issuerOf(stub, { verified: undefined }))).verified).to.equal(true)
  })

  it('goes on when the issuer replaces its keys', async () => {
    const issuer = issuerOf()
    await signIn(issuer)
    stub.rotate()
    expect((await signIn(issuer)).subject).to.equal('ann')
  })

  it('says that the issuer is away, and asks it again once it is back', async () => {
    const issuer = issuerOf()
    stub.does({ away: true })
    expect((await hindrance(signIn(issuer))).why).to.equal('away')
    stub.does({})
    expect((await signIn(issuer)).subject).to.equal('ann')
    const begun = begin()
    const query = stub.signIn(await issuer.addressFor(begun, false))
    stub.does({ away: true })
    expect((await hindrance(issuer.personOf(query, begun))).why).to.equal('away')
    const unreachable = openIssuer({
      issuer: 'http://127.0.0.1:1',
      clientId: 'linkledger',
      clientSecret: undefined,
      scopes: 'openid',
      redirect: 'http://localhost:3000/oidc/callback',
      claims: { email: 'email', verified: undefined, name: 'name', groups: 'groups', directory: 'sub' },
    })
    expect((await hindrance(unreachable.addressFor(begun, false))).why).to.equal('away')
  })

  it('refuses an issuer that calls itself otherwise, or signs with nothing else than secrets', async () => {
    stub.does({ metadata: { issuer: 'https://evil.example.com' } })
    expect((await hindrance(signIn())).why).to.equal('answer')
    stub.does({ metadata: { id_token_signing_alg_values_supported: ['HS256'] } })
    expect((await hindrance(signIn())).message).to.include('it must sign with RS256 or ES256')
  })

  it('takes a sign-in as fresh when it is not older than the request, within 30 seconds', () => {
    expect(isFresh({ authTime: 1000 }, 1_000_000)).to.equal(true)
    expect(isFresh({ authTime: 971 }, 1_000_000)).to.equal(true)
    expect(isFresh({ authTime: 969 }, 1_000_000)).to.equal(false)
    expect(isFresh({ authTime: undefined }, 1_000_000)).to.equal(false)
  })
})
