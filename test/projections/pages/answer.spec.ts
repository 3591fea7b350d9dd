import type { AnswerEvent } from '../../../src/events/pages/answer.ts'
import { answers } from '../../../src/projections/pages/answer.ts'
import { parseStreamId } from '../../../src/events/streams.ts'
import { at, recorded } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(answers)
const fields = '{"choice":"Tea"}'
const given_ = (overlay: number, account = 1): AnswerEvent => ({
  type: 'AnswerGiven',
  data: { overlay, account, link: 3, fields },
})
const row = (id: bigint, overlay: number, account = 1) => {
  const [given] = recorded([given_(overlay)])
  return { id, overlay, account, answer: parseStreamId(given!.stream).id, fields, created: at(Number(id)) }
}

describe('the table of answers', () => {
  it('has a row per answer, with the position in the log as its id', () =>
    given(given_(5), given_(6, 2)).thenRows('answers', row(1n, 5), row(2n, 6, 2)))
  it('counts the answers to each overlay', () =>
    given(given_(5), given_(6), given_(5)).thenRows('answer_counts', { overlay: 5, n: 2 }, { overlay: 6, n: 1 }))
  it('has no answers to an erased account', () =>
    given(given_(5), given_(6, 2), { type: 'AccountErased', data: { id: 1 } }).thenRows('answers', row(2n, 6, 2)))
})
