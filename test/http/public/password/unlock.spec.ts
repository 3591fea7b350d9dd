import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { isUnlocked, unlockCookie } from '../../../../src/http/public/password/unlock.ts'

const secret = Buffer.from('a secret for tests only')
const now = Date.parse('2026-06-01T12:00:00Z')
const hour = 3_600_000

const requestWith = (cookie: string) => {
  const req = new IncomingMessage(new Socket())
  req.headers.cookie = cookie
  return req
}
const unlocks = (cookie: string, at = now, link = 7, password = 'hash', secure = false) =>
  isUnlocked(requestWith(cookie), secret, { link, password }, at, secure)

describe('the cookie that unlocks a link', () => {
  const [cookie = ''] = unlockCookie(secret, 7, 'hash', now, false).split(';')

  it('unlocks it for an hour', () => {
    expect([unlocks(cookie), unlocks(cookie, now + hour - 1000), unlocks(cookie, now + hour)]).to.deep.equal([
      true,
      true,
      false,
    ])
  })

  it('has a name under https that no other host can set', () => {
    const set = unlockCookie(secret, 7, 'hash', now, true)
    const [secured = ''] = set.split(';')
    expect(set)
      .to.match(/^__Host-ll_7=\d+\.[\w-]+; Path=\/; .*; Secure$/)
      .and.not.include('Domain')
    expect(unlocks(secured, now, 7, 'hash', true)).to.equal(true)
    expect(unlocks(secured.replace('__Host-', ''), now, 7, 'hash', true)).to.equal(false)
  })

  it('does not unlock another link, or the same one with another password', () => {
    expect([unlocks(cookie.replace('ll_7', 'll_8'), now, 8), unlocks(cookie, now, 7, 'other')]).to.deep.equal([
      false,
      false,
    ])
  })

  it('does not unlock anything with a forged expiry, without a signature or when it is missing', () => {
    const [ends = '', signature = ''] = cookie.slice('ll_7='.length).split('.')
    for (const forged of [
      `ll_7=${Number(ends) + 60}.${signature}`,
      `ll_7=${ends}`,
      `ll_7=${ends}.`,
      'll_7=',
      'other=1',
      '',
    ])
      expect(unlocks(forged), forged).to.equal(false)
  })

  it('is found among other cookies', () => {
    expect(unlocks(`a=1; ${cookie}; b=2`)).to.equal(true)
  })
})
