import type { AnswerEvent } from '../../events/pages/answer.ts'
import { type Decider, refuse } from '../decider.ts'

interface OfAnswer {
  /** a UUID */
  readonly answer: string
  readonly overlay: number
  /** of the overlay's owner */
  readonly account: number
}
export type AnswerCommand =
  | (OfAnswer & {
      readonly type: 'GiveAnswer'
      readonly link: number
      /** a JSON object of strings */
      readonly fields: string
    })
  | (OfAnswer & { readonly type: 'EraseAnswer' })

/** Each answer has its own stream, so that visitors never wait for each other. */
export const answer: Decider<AnswerCommand, 'none' | 'given' | 'erased', AnswerEvent> = {
  kind: 'answer',
  version: 2,
  id: ({ answer }) => answer,
  initialState: 'none',
  decide: (command, state) => {
    const { overlay, account } = command
    if (command.type === 'GiveAnswer') {
      const { link, fields } = command
      return state === 'none' ? [{ type: 'AnswerGiven', data: { overlay, account, link, fields } }] : []
    }
    if (state === 'none') return refuse('not_found', { what: 'answer' })
    if (state === 'erased') return refuse('not_found', { what: 'answer_text' })
    return [{ type: 'AnswerErased', data: { overlay, account } }]
  },
  evolve: (_, { type }) => (type === 'AnswerGiven' ? 'given' : 'erased'),
}
