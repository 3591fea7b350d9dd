import { expect } from 'chai'
import { withQuota } from '../../src/app/accounts/limits.ts'
import { openQuotas, QuotaExceeded } from '../../src/cache/quotas.ts'
import { quotaKinds } from '../../src/queries/accounts/quota.ts'

/** Returns quotas of an account whose tables lag: they contain what was created once `project` is called. */
const start = (limit: number) => {
  let stored = 0
  let reads = 0
  const waiting: (() => void)[] = []
  const quotas = openQuotas({
    limits: Object.fromEntries(quotaKinds.map((kind) => [kind, limit])) as Record<(typeof quotaKinds)[number], number>,
    used: async () => {
      reads++
      const now = stored
      await new Promise((done) => setTimeout(done, Math.random() * 5))
      return now
    },
    projected: () => new Promise<void>((done) => waiting.push(done)),
    timeoutMs: 5,
  })
  const project = async () => {
    for (const done of waiting.splice(0)) {
      stored++
      done()
    }
    await new Promise((done) => setTimeout(done, 1))
  }
  /** Creates links at the same time and returns how many were allowed. */
  const create = async (n: number, account = 1) => {
    const outcomes = await Promise.all(
      Array.from({ length: n }, async () => {
        try {
          const end = await quotas.reserve(account, 'link')
          end(1n)
          return true
        } catch (error) {
          expect(error).to.be.instanceOf(QuotaExceeded)
          return false
        }
      }),
    )
    return outcomes.filter(Boolean).length
  }
  return { quotas, create, project, remove: (n: number) => (stored -= n), reads: () => reads }
}

describe('quotas of accounts', () => {
  it('allow exactly the rest to many requests at once, while the tables lag and after', async () => {
    const { create, project, remove } = start(10)
    expect(await create(7)).to.equal(7)
    expect(await create(50)).to.equal(3)
    await project()
    expect(await create(50)).to.equal(0)
    remove(2)
    expect(await create(50)).to.equal(2)
    expect(await create(1)).to.equal(0)
  })

  it('are not exceeded far from the limit either, and rarely read the tables there', async () => {
    const { create, project, reads } = start(20_000)
    let created = 0
    for (let i = 0; i < 400; i++) {
      created += await create(60)
      if (i % 3 === 0) await project()
    }
    expect(created).to.equal(20_000)
    expect(reads()).to.be.below(8000)
  })

  it('are read for each request close to the limit, where other processes may take the rest', async () => {
    const { create, reads } = start(1000)
    for (let i = 1; i <= 5; i++) {
      expect(await create(1)).to.equal(1)
      expect(reads()).to.equal(i)
    }
  })

  it('are read once for a hundred thousand links of a new account', async () => {
    const { create, reads } = start(1_000_000)
    for (let i = 0; i < 10; i++) expect(await create(10_000 - (i === 0 ? 9999 : 0))).to.be.above(0)
    expect(reads()).to.equal(1)
  })

  it('do not refuse the rest when the tables already have a resource that was just created', async () => {
    let stored = 0
    let seen = () => {}
    const projection = new Promise<void>((done) => (seen = done))
    const quotas = openQuotas({
      limits: { ...Object.fromEntries(quotaKinds.map((kind) => [kind, 0])), link: 10 } as never,
      used: async () => stored,
      projected: () => projection,
    })
    for (let n = 0; n < 9; n++) (await quotas.reserve(1, 'link'))(1n)
    // the process learns a moment later that the tables have them
    stored = 9
    setTimeout(seen, 20)
    ;(await quotas.reserve(1, 'link'))(2n)
    stored = 10
    const error = await quotas.reserve(1, 'link').catch(String)
    expect(error).to.include('quota of 10 links')
  })

  it('do not refuse the rest when the process learns of new rows while it reads the tables', async () => {
    let stored = 0
    let seen = () => {}
    const projection = new Promise<void>((done) => (seen = done))
    const quotas = openQuotas({
      limits: { ...Object.fromEntries(quotaKinds.map((kind) => [kind, 0])), link: 2 } as never,
      used: async () => {
        if (stored > 0) seen()
        await new Promise((done) => setTimeout(done, 1))
        return stored
      },
      projected: () => projection,
    })
    ;(await quotas.reserve(1, 'link'))(1n)
    stored = 1
    ;(await quotas.reserve(1, 'link'))(2n)
    stored = 2
    const error = await quotas.reserve(1, 'link').catch(String)
    expect(error).to.include('quota of 2 links')
  })

  it('do not count failed creations, and nothing when there is no limit', async () => {
    const { quotas } = start(1)
    for (let i = 0; i < 3; i++) (await quotas.reserve(1, 'qr'))()
    ;(await quotas.reserve(1, 'qr'))()
    const unlimited = start(0)
    expect(await unlimited.create(100)).to.equal(100)
    expect(unlimited.reads()).to.equal(0)
  })

  it('name the quota in their message', async () => {
    const { quotas } = start(1000)
    const refused = async (work: Promise<unknown>) =>
      String(((await work.catch((error: unknown) => error)) as Error).message)
    expect(await refused(quotas.reserve(1, 'qr', 1001))).to.equal(
      'This account has reached its quota of 1,000 QR codes. Delete some, or ask the operator of this service for more.',
    )
    const images = withQuota({ save: async () => 'hash' }, start(2_000_000).quotas)
    expect(await images.save(1, Buffer.alloc(2_000_000))).to.equal('hash')
    expect(await refused(images.save(1, Buffer.alloc(2_000_001)))).to.match(/quota of 2 MB of images\./)
  })
})
