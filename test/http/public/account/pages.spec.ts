import { expect } from 'chai'
import { invitationPage } from '../../../../src/http/public/account/invitation.ts'
import { renderPage } from '../../../../src/http/public/page/page.ts'
import { englishView } from '../../../support/pages.ts'

describe('the page of an invitation', () => {
  const shown = (passwords: boolean, email?: string) =>
    renderPage(invitationPage({ name: 'acme', email }, { token: 'abc' }, passwords)(englishView), englishView)

  it('makes an account, for the address that it was sent to', () => {
    expect(shown(true, 'ben@example.com')).to.include('name="password"').and.not.to.include('name="email"')
    expect(shown(true)).to.include('name="email"')
  })

  it('only links to the sign-in where password sign-in is disabled', () => {
    expect(shown(false)).to.include('href="/dashboard/invitation?t=abc"').and.not.to.include('<form')
  })
})
