import { expect } from 'chai'
import { begin, isFresh, openIssuer } from '../../src/security/issuer.ts'
import { NotSignedIn } from '../../src/security/notsignedin.ts'
import { startProvider } from '../support/oidcprovider.ts'

const redirect = 'http://localhost:3000/oidc/callback'

describe('signing in with a real issuer', () => {
  const signIn = async (alg: 'RS256' | 'ES256' | 'HS256', fresh = false) => {
    const provider = await startProvider(redirect, alg)
    try {
      const issuer = openIssuer({
        issuer: provider.address,
        clientId: provider.clientId,
        clientSecret: provider.clientSecret,
        scopes: 'openid email profile',
        redirect,
        claims: { email: 'email', verified: 'email_verified', name: 'name', groups: 'groups', directory: 'sub' },
      })
      const begun = begin()
      const began = Date.now()
      const first = await issuer.personOf(await provider.follow(await issuer.addressFor(begun, false)), begun)
      if (!fresh) return { person: first, issuer: provider.address, began }
      const again = begin()
      const person = await issuer.personOf(await provider.follow(await issuer.addressFor(again, true)), again)
      return { person, issuer: provider.address, began }
    } finally {
      await provider.close()
    }
  }

  for (const alg of ['RS256', 'ES256'] as const)
    it(`accepts its responses, signed with ${alg}, and claims that are in its userinfo only`, async () => {
      const { person, issuer } = await signIn(alg)
      const { authTime: _, ...others } = person
      expect(others).to.deep.equal({
        issuer,
        subject: 'ann',
        email: 'ann@example.com',
        verified: true,
        name: 'Ann Smith',
        groups: [],
        groupsFrom: [],
        externalId: 'ann',
        refreshToken: undefined,
        sid: undefined,
      })
    })

  it('learns that a person has signed in again', async () => {
    const { person, began } = await signIn('RS256', true)
    expect(isFresh(person, began)).to.equal(true)
  })

  it('refuses a token that is signed with the secret of the client', async () => {
    const error: unknown = await signIn('HS256').catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(NotSignedIn)
    expect((error as NotSignedIn).message).to.include('must be signed with a key of the issuer')
  })
})
