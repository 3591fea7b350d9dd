import { answer, type AnswerCommand } from '../../../src/commands/pages/answer.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(answer)
const said = { overlay: 7, account: 1, link: 3, fields: '{"email":"bea@example.com"}' }
const give: AnswerCommand = { type: 'GiveAnswer', answer: '6a9e2a76-0c5c-4a0c-8f0e-0a8f2c6f2b11', ...said }

describe('an answer to an overlay', () => {
  it('is recorded once', () => {
    given().when(give).thenEvents({ type: 'AnswerGiven', data: said })
    given({ type: 'AnswerGiven', data: said }).when(give).thenNothing()
  })
  it('is erased once, and not given again', () => {
    const { answer: id, overlay, account } = give
    const erase: AnswerCommand = { type: 'EraseAnswer', answer: id, overlay, account }
    const [given_, erased] = [
      { type: 'AnswerGiven', data: said },
      { type: 'AnswerErased', data: { overlay, account } },
    ] as const
    given(given_).when(erase).thenEvents(erased)
    given().when(erase).thenRefused('not_found', 'answer')
    given(given_, erased).when(erase).thenRefused('not_found', 'answer_text')
    given(given_, erased).when(give).thenNothing()
  })
})
