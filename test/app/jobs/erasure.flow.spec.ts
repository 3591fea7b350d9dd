import { expect } from 'chai'
import { TOTP } from 'otpauth'
import { carryOutErasures } from '../../../src/app/jobs/erasure.ts'
import { readErasures, registerIn } from '../../../src/security/erasures.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'

const current_password = 'correct horse 1'
const day = 86_400_000

describe('an account that its owner wants erased', () => {
  let app: TestApp
  before(async () => (app = await startTestApp({ ERASURE_DELAY_DAYS: '3' })))
  after(() => app.close())

  const account = (key: string) => app.get('/api/account', { key })
  const erasesAt = async (key: string) => String((await account(key)).json['data'].erases)
  const schedule = (key: string, body: object = { current_password }) => app.post('/api/account/erase', { key, body })
  const erasedIds = async () =>
    (await query<{ stream: string }>(app.connection, `select stream from log.events where type = 'AccountErased'`)).map(
      ({ stream }) => stream,
    )
  const run = (days: number) => {
    const { handler, keys, reader } = app.app.ledger
    const finish = (id: number) => keys.destroy([id])
    const problems: unknown[] = []
    const onProblem = (error: unknown) => void problems.push(error)
    return carryOutErasures({ reader, handler, finish, onProblem }, new Date(Date.now() + days * day)).then(
      () => problems,
    )
  }

  it('needs its password, works until then, shows the date, and is kept when it is cancelled', async () => {
    const { key, id } = await app.register()
    for (const [body, message] of [
      [{}, '`current_password` is required.'],
      [{ current_password: 'wrong horse 1' }, '`current_password` is not the password of the account.'],
    ] as const) {
      const { status, json } = await schedule(key, body)
      expect([status, json['message']]).to.deep.equal([400, message])
    }
    expect(await erasesAt(key)).to.equal('')
    const { json } = await schedule(key)
    const days = (Date.parse(`${String(json['erases']).replace(' ', 'T')}Z`) - Date.now()) / day
    expect(Math.round(days)).to.equal(3)
    expect(await erasesAt(key)).to.equal(json['erases'])
    // asked for again, it stays as it is
    expect((await schedule(key)).json['erases']).to.equal(json['erases'])
    expect((await app.post('/api/url/add', { key, body: { url: 'https://example.com' } })).status).to.equal(200)
    await run(2)
    expect((await app.del('/api/account/erase', { key })).status).to.equal(200)
    expect(await erasesAt(key)).to.equal('')
    await run(4)
    expect((await account(key)).status).to.equal(200)
    expect(await erasedIds()).not.to.include(`account-${id}`)
  })

  it('needs a code when there is a second factor, and is cancelled by a new password', async () => {
    const { key } = await app.register()
    const { secret } = (await app.post('/api/account/totp/secret', { key })).json as { secret: string }
    const factor = { secret, code: new TOTP({ secret }).generate(), current_password }
    const codes = (await app.post('/api/account/totp', { key, body: factor })).json['recovery_codes'] as string[]
    expect((await schedule(key)).json).to.include({ code: 'required_here', field: 'code' })
    expect((await schedule(key, { current_password, code: 'abcde-abcde' })).status).to.equal(400)
    expect((await schedule(key, { current_password, code: codes[0] })).status).to.equal(200)
    expect(await erasesAt(key)).not.to.equal('')
    const changed = { password: 'another horse 2', current_password, code: codes[1] }
    expect((await app.put('/api/account/update', { key, body: changed })).status).to.equal(200)
    expect(await erasesAt(key)).to.equal('')
  })

  it('is erased once when it is due, by one of several processes, and noted in the register', async () => {
    const { key, id } = await app.register()
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com' } })
    await schedule(key)
    expect((await Promise.all([run(4), run(4), run(4)])).flat()).to.deep.equal([])
    await run(5)
    expect((await erasedIds()).filter((stream) => stream === `account-${id}`)).to.have.length(1)
    expect(
      (
        await until(
          () => account(key),
          ({ status }) => status === 401,
        )
      ).status,
    ).to.equal(401)
    const { pathname } = new URL(String(json['shorturl']))
    expect(
      (
        await until(
          () => app.visit(pathname),
          ({ status }) => status === 404,
        )
      ).status,
    ).to.equal(404)
    const noted = () => readErasures(registerIn(app.dir))
    expect((await until(noted, ({ length }) => length > 0)).map((one) => one.account)).to.deep.equal([id])
    const keys = await query(app.connection, `select from state.keys where name = 'account-${id}'`)
    expect(keys).to.deep.equal([])
  })
})
