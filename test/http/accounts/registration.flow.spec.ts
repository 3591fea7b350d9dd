import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'

describe('registrations', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '127.0.0.1', REGISTRATIONS_PER_ADDRESS: '2', REGISTRATIONS_PER_HOUR: '4' })
  })
  after(() => app.close())

  let n = 0
  const register = async (from: string, password = 'correct horse 1') => {
    const body = { email: `ann${n++}@example.com`, password }
    const { status, json, headers } = await app.post('/register', { body, headers: { 'X-Forwarded-For': from } })
    return { status, message: String(json['message']), wait: Number(headers.get('Retry-After')) }
  }

  it('are limited for an address block and for the whole service, without a rate limit', async () => {
    expect((await register('2001:db8::1', 'short')).status, 'not counted').to.equal(400)
    expect((await register('2001:db8::1')).status).to.equal(200)
    expect((await register('2001:db8::2')).status).to.equal(200)
    const third = await register('2001:db8::3')
    expect(third.status).to.equal(429)
    expect(third.message).to.match(
      /^There were too many registrations from your network\. Try again in (60|59) minutes\.$/,
    )
    expect(third.wait).to.be.within(3500, 3600)

    const others = [await register('2001:db8:0:1::1'), await register('192.0.2.1')]
    expect(others.map(({ status }) => status)).to.deep.equal([200, 200])
    const late = await register('192.0.2.2')
    expect(late.status).to.equal(429)
    expect(late.message).to.include('at this service')
  })
})
