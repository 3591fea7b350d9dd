import { expect } from 'chai'
import { startTestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'

const sql = 'select max(size) from state.checkpoints'

describe('checkpoints while the clock is behind the last one', () => {
  it('are signed, and /readyz says that the clock is behind', async () => {
    const app = await startTestApp({ CHECKPOINT_SECONDS: '3600' })
    try {
      const { key } = await app.register()
      const newest = async () => Number((await query<{ max: string | null }>(app.connection, sql))[0]?.max)
      const first = await until(newest, (size) => size > 0)
      // as if the clock had been set back by two hours since
      await query(app.connection, `update state.checkpoints set signed_at = signed_at + interval '2 hours'`)
      await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
      const later = await until(newest, (size) => size > first)
      expect(later).to.be.above(first)
      const { status, json } = await app.operator.get('/readyz?of=api')
      expect([status, json['ready']]).to.deep.equal([200, true])
      expect(String(json['problems'])).to.match(/^the clock is 7\d\d\d s behind the last signed checkpoint of the log/)
      // from then on, they are as far apart as the setting says
      await app.post('/api/url/add', { key, body: { url: 'https://example.org/' } })
      await new Promise((resolve) => setTimeout(resolve, 2500))
      expect(await newest()).to.equal(later)
    } finally {
      await app.close()
    }
  })
})
