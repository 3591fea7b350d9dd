import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { channelClient } from '../../support/clients/channel.ts'
import { linkClient } from '../../support/clients/link.ts'
import { openStage } from '../../support/faults.ts'

describe('the channels of a link', () => {
  let app: TestApp
  let key: string
  const stage = openStage()
  before(async () => {
    app = await startTestApp()
    stage.later(app.close)
    ;({ key } = await app.register())
  })
  after(stage.clear)

  const { add, update, details } = linkClient(
    () => app,
    () => key,
  )
  const { create, assigned, items } = channelClient(
    () => app,
    () => key,
  )
  const count = async (channel: number) => (await items(channel))['data'].result as number
  const change = async (id: number, body: object) => {
    const { status, text } = await update(id, body)
    expect(status, text).to.equal(200)
  }

  it('are in its details, and `channel: null` or an empty one takes it out of all of them', async () => {
    const [one, two] = [(await create()).id, (await create()).id]
    for (const nothing of [null, '']) {
      const { id } = await add({ channel: two })
      const other = await add({ channel: one })
      await assigned(one, 'links', id)
      expect((await details(id)).channels).to.deep.equal([one, two])
      await change(id, { title: 'still in both' })
      expect((await details(id)).channels).to.deep.equal([one, two])
      await change(id, { channel: nothing })
      expect((await details(id)).channels).to.deep.equal([])
      expect(await count(two)).to.equal(0)
      expect((await details(other.id)).channels).to.deep.equal([one])
      await change(id, { channel: two })
      expect((await details(id)).channels).to.deep.equal([two])
      await app.del(`/api/url/${id}/delete`, { key })
    }
  })

  it('do not include one that is deleted', async () => {
    const [kept, gone] = [(await create()).id, (await create()).id]
    const { id } = await add({ channel: gone })
    await assigned(kept, 'links', id)
    await app.del(`/api/channel/${gone}/delete`, { key })
    expect((await details(id)).channels).to.deep.equal([kept])
  })

  it('are read from their streams while the tables lag, and links can still leave them', async () => {
    const [early, late] = [(await create()).id, (await create()).id]
    const { id } = await add({ channel: early })
    const holder = await stage.connect(app.connection)
    await holder.query('begin; select * from read.checkpoints for update')
    const shows = (expected: readonly number[]) =>
      until(
        async () => (await details(id)).channels as number[],
        (channels) => channels.join() === expected.join(),
      )
    const assigning = assigned(late, 'links', id)
    expect(await shows([early, late])).to.deep.equal([early, late])
    const leaving = change(id, { channel: null })
    expect(await shows([])).to.deep.equal([])
    await holder.query('rollback')
    await Promise.all([assigning, leaving])
    // after two seconds the requests do not wait for the tables any more
    const counts = await until(
      async () => [await count(early), await count(late)],
      ([first, second]) => first === 0 && second === 0,
    )
    expect(counts).to.deep.equal([0, 0])
    expect((await details(id)).channels).to.deep.equal([])
  })
})
