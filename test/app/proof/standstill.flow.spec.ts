import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'

describe('a problem that keeps checkpoints from being signed', () => {
  let app: TestApp
  before(async () => (app = await startTestApp({ CHECKPOINT_SECONDS: '1' })))
  after(() => app.close())

  const sql = (text: string) => query<{ n: string }>(app.connection, text)
  const signed = async () => Number((await sql('select coalesce(max(size), 0) as n from state.checkpoints'))[0]?.n)
  const events = async () => Number((await sql('select count(*) as n from log.events where position > 0'))[0]?.n)
  const problems = async () => String((await app.operator.get('/readyz')).json['problems'])
  const isSigned = async () => (await signed()) >= (await events())

  it('is in /readyz while it lasts, with the command that finds the cure', async () => {
    await app.register()
    expect(await until(isSigned, Boolean)).to.equal(true)
    expect(await problems()).not.to.include('signed')
    await sql('update read.tree set size = size - 1')
    await app.register()
    const found = await until(problems, (text) => text.includes('no checkpoint'))
    expect(found).to.match(/no checkpoint of the log is signed since \d{4}-\S+Z: .*`linkledger verify`/)
    await sql('truncate read.tree, read.tiles')
    expect(await until(problems, (text) => !text.includes('no checkpoint'))).not.to.include('no checkpoint')
    expect(await until(isSigned, Boolean)).to.equal(true)
  })

  it('is not an event that something else has added, and that JSON cannot have', async () => {
    await sql(
      `insert into log.events select (select max(position) + 1 from log.events), 'strange-1', 0, gen_random_uuid(), 'Strange', '{"zz":1e999}', metadata, at
       from log.events where position = 1`,
    )
    const before = await events()
    await app.register()
    expect(await until(isSigned, Boolean)).to.equal(true)
    expect(await signed()).to.be.above(before)
    expect(await problems()).not.to.include('no checkpoint')
  })
})
