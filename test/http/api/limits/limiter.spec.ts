import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { limitRegistrations } from '../../../../src/http/accounts/register.ts'
import { Failure } from '../../../../src/http/api/errors.ts'
import { type Limiter, type RateCount, sparing } from '../../../../src/http/api/limits/limiter.ts'

/** Counts in memory, in one window. */
const memoryLimiter = (): Limiter => {
  const counts = new Map<string, number>()
  return {
    count: async (key, limit) => {
      const n = (counts.get(key) ?? 0) + 1
      counts.set(key, n)
      return { limit, remaining: Math.max(0, limit - n), reset: 0, over: n > limit, wait: 3000 }
    },
    uncount: async (key) => void counts.set(key, (counts.get(key) ?? 0) - 1),
  }
}

describe('registrations', () => {
  const outcome = (registered: Promise<void>) =>
    registered.then(
      () => 'passed',
      (error: unknown) => (error instanceof Failure ? String(error.problem.params['what']) : String(error)),
    )

  it('of a site of IPv6 are four times those of a network, however many networks it has', async () => {
    const register = limitRegistrations(memoryLimiter(), { perAddress: 3, total: 1000 })
    const outcomes: string[] = []
    for (let n = 0; n < 40; n++) outcomes.push(await outcome(register(`2001:4db8:77:${n}::/64`)))
    expect(outcomes.filter((one) => one === 'passed')).to.have.length(12)
    expect(new Set(outcomes.slice(12))).to.deep.equal(new Set(['network']))
  })

  it('of a few networks leave some to networks that have had none, also after many were refused', async () => {
    const register = limitRegistrations(memoryLimiter(), { perAddress: 100, total: 20 })
    const outcomes: string[] = []
    for (let n = 0; n < 60; n++) outcomes.push(await outcome(register(`203.0.113.${n % 2}`)))
    expect(outcomes.filter((one) => one === 'passed')).to.have.length(18)
    expect([await outcome(register('198.51.100.7')), await outcome(register('198.51.100.8'))]).to.deep.equal([
      'passed',
      'passed',
    ])
    expect(await outcome(register('198.51.100.9'))).to.equal('service')
  })
})

describe('a client of the API', () => {
  const counted = (count: number, limit: number): RateCount => {
    const remaining = Math.max(0, limit - count)
    return { limit, remaining, reset: 0, over: count > limit, wait: 30 }
  }

  it('over its limit is refused with one question to the database for all requests that wait', async () => {
    let [count, questions] = [0, 0]
    const take = async (_key: string, limit: number) => {
      questions++
      await nextTurn()
      return counted(++count, limit)
    }
    const limiter = sparing({ take })
    const ask = () => limiter.take('address 192.0.2.1', 30, 60, 1)
    const answers = await Promise.all(Array.from({ length: 2000 }, ask))
    expect(answers.filter(({ over }) => !over)).to.have.length(30)
    expect(questions).to.be.below(40)

    const before = questions
    await limiter.take('address 192.0.2.2', 30, 60, 1)
    expect(questions - before, 'another client').to.equal(1)
    await ask()
    expect(questions - before, 'later requests').to.equal(2)
  })

  it('that requests more than is left can still request less', async () => {
    const take = async (_key: string, limit: number, _seconds: number, requests: number) =>
      requests > 1 ? { ...counted(29, limit), over: true } : counted(30, limit)
    const limiter = sparing({ take })
    const ask = (requests: number) => limiter.take('account 1', 30, 60, requests)
    expect([(await ask(20)).over, (await ask(1)).over]).to.deep.equal([true, false])
  })
})
