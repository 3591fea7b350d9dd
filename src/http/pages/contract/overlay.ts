import { z } from 'zod'
import { OverlayPosition, OverlayType } from '../../../events/pages/overlay.ts'
import {
  type Answer,
  type AnswerOf,
  type Whole,
  count,
  created,
  deleted,
  deletedForGood,
  id,
  listOf,
  ownedFields,
  pageFields,
  type Contract,
  revision,
  stored,
  success,
  text,
  time,
  updated,
} from '../../api/contract.ts'

const type = stored(OverlayType)
const row = z.object({ id, type, name: text, date: time, revision })
export type Overlay = Answer<typeof row>
const fields = {
  message: 'the text',
  label: 'text of the button',
  link: 'where the button leads',
  image: 'address of the image; type `image` needs it',
  color: 'HEX color',
  position: 'corner: `bl` bottom left, `br` bottom right, `tl` top left, `tr` top right',
  question: 'type `poll` needs it',
  options: 'answers to choose from; type `poll` needs 2 to 10',
  coupon: 'type `coupon` needs it',
}

const answer = z.object({
  id,
  date: time,
  fields: z.record(z.string(), text).describe('empty once the answer is erased'),
})
export type OverlayAnswer = Answer<typeof answer>

export const overlays = listOf('Overlay', 'cta', row)
export type OverlayList = Whole<typeof overlays>
export const overlayAnswers = listOf('OverlayAnswer', 'answers', answer)
export type OverlayAnswerList = Whole<typeof overlayAnswers>

export const overlayContract = {
  'GET /api/overlay': { summary: 'List overlays', fields: ownedFields, ...overlays },
  'GET /api/overlay/:id': {
    summary: 'Get an overlay',
    answer: success({
      details: row
        .extend({
          message: text,
          label: text,
          link: text,
          image: text,
          color: text,
          position: stored(OverlayPosition),
          question: text,
          options: z.array(text),
          coupon: text,
        })
        .meta({ id: 'OverlayDetails' }),
    }),
  },
  'POST /api/overlay/add': {
    summary: 'Create an overlay',
    description:
      'A call to action above the framed destination of a link. A link shows it with the `type` `overlay-<id>`.',
    fields,
    example: { type: 'poll', name: 'Taste', question: 'Tea or coffee?', options: ['Tea', 'Coffee'] },
    answer: created,
  },
  'PUT /api/overlay/:id/update': {
    summary: 'Change an overlay',
    fields,
    example: { name: 'Taste of visitors' },
    answer: updated,
  },
  'DELETE /api/overlay/:id/delete': {
    summary: 'Delete an overlay',
    description: 'Its links then redirect directly.',
    answer: deleted,
  },
  'GET /api/overlay/:id/answers': {
    summary: 'List what visitors sent through an overlay',
    fields: { ...pageFields, q: 'part of what a visitor entered, in any letter case' },
    ...overlayAnswers,
  },
  'DELETE /api/overlay/:id/answers/:answer/delete': {
    summary: 'Erase what a visitor entered',
    description:
      'Destroys the key of the answer for good: its text is gone from every answer of the API, with `at` too, and from exports and events. Its number, its date and the number of answers stay. An answer to a deleted overlay can be erased as well.',
    failures: { 404: { description: 'There is no such answer, or it is erased already.' } },
    answer: deletedForGood,
  },
  'GET /api/overlay/:id/answers/counts': {
    summary: 'Count the answers to a poll',
    description:
      'Counts the newest 500,000 answers at most. Choices that the poll does not offer any more are counted too, 100 choices at most. An overlay that is no poll has answers without a choice, which count as `null`, and so do erased answers.',
    answer: success({
      data: z.object({
        answers: count.describe('how many there are'),
        counted: count.describe('how many of them, the newest ones, were counted'),
        choices: z
          .array(z.object({ choice: text.nullable().meta({ examples: ['Tea'] }), count }))
          .describe('what was chosen how often, most often first'),
      }),
    }),
  },
} satisfies Contract

export type FoundOverlay = AnswerOf<typeof overlayContract, 'GET /api/overlay/:id'>
export type OverlayDetails = FoundOverlay['details']
export type PollCounts = AnswerOf<typeof overlayContract, 'GET /api/overlay/:id/answers/counts'>
