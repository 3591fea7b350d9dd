import type { AnswerEvent } from '../../events/pages/answer.ts'
import type { Decider } from '../decider.ts'

export interface AnswerCommand {
  readonly type: 'GiveAnswer'
  /** a UUID */
  readonly answer: string
  readonly overlay: number
  /** of the overlay's owner */
  readonly account: number
  readonly link: number
  /** a JSON object of strings */
  readonly fields: string
}

/** Each answer has a stream of its own, so that visitors never wait for each other. */
export const answer: Decider<AnswerCommand, 'none' | 'given', AnswerEvent> = {
  kind: 'answer',
  version: 1,
  id: ({ answer }) => answer,
  initialState: 'none',
  decide: ({ overlay, account, link, fields }, state) =>
    state === 'given' ? [] : [{ type: 'AnswerGiven', data: { overlay, account, link, fields } }],
  evolve: () => 'given',
}
