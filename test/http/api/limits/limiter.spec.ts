import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { type RateCount, sparing } from '../../../../src/http/api/limits/limiter.ts'

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
    expect(questions - before, 'whoever asks later').to.equal(2)
  })

  it('that asks for more than is left can still ask for less', async () => {
    const take = async (_key: string, limit: number, _seconds: number, requests: number) =>
      requests > 1 ? { ...counted(29, limit), over: true } : counted(30, limit)
    const limiter = sparing({ take })
    const ask = (requests: number) => limiter.take('account 1', 30, 60, requests)
    expect([(await ask(20)).over, (await ask(1)).over]).to.deep.equal([true, false])
  })
})
