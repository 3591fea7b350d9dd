import { z } from 'zod'
import { type AnswerOf, count, type Contract, success, text, time } from '../api/contract.ts'

const hashes = z.array(text).describe('hashes in base64, from the leaf to the root')
const index = z.int().nonnegative()
const event = text
  .describe(
    'the event in canonical form (RFC 8785), sealed as it is stored; a batch of clicks has the root of its clicks',
  )
  .meta({
    examples: [
      '{"data":{"id":42},"id":"…","metadata":{…},"ordinal":123456,"revision":3,"stream":"link-42","type":"LinkDeleted"}',
    ],
  })
const proof = z
  .object({
    index: index.describe('the ordinal of the event'),
    path: hashes,
    checkpoint: text.describe('the signed checkpoint, as `/log/checkpoint` has it'),
  })
  .meta({ id: 'Proof' })

const description = 'docs/proof.md says how to verify it without this service; `linkledger proof verify` does it, too.'

// 503 is for faults of a store: here nothing is wrong, it is only too early
const failures = { 409: { description: 'The event is in no signed checkpoint yet: try again in a minute.' } }

export const proofContract = {
  'GET /api/proof': {
    summary: 'Get the state of the proof: its key, the last signed checkpoint, and the last verification',
    description:
      'The proof is that of the whole log of this service. Keep the key and checkpoints where the operator cannot change them.',
    answer: success({
      key: text
        .describe('the public key that verifies checkpoints, as `linkledger proof key` prints it')
        .meta({ examples: ['linkledger/log/0b0a4d2c…+037ae0ae+AX…'] }),
      events: count.describe('events in the tree').meta({ examples: [123456] }),
      checkpoint: z
        .object({
          events: count.describe('the number of events that it covers'),
          note: text.describe('the signed checkpoint, as `/log/checkpoint` has it'),
          at: time.describe('when it was signed'),
        })
        .nullable()
        .describe('null until the first one is signed'),
      verified: z
        .object({ events: count.describe('the number of events that were read again'), at: time })
        .nullable()
        .describe('when `linkledger verify` last found the whole log as it was signed; null: not yet'),
    }),
  },
  'GET /api/events/:event/proof': {
    summary: 'Get the receipt of an event: the proof that the log has it',
    description,
    failures,
    answer: success({ event, proof }),
  },
  'GET /api/clicks/:id/proof': {
    summary: 'Get the receipt of a click, which shows no other click',
    description: `A click’s id is the ordinal of the event that recorded it, and its place in the batch: \`123456-17\`. ${description}`,
    failures,
    answer: success({
      event,
      click: text
        .describe('the click in canonical form')
        .meta({ examples: ['{"account":7,"agent":"Mozilla …","at":"…"}'] }),
      proof: proof.extend({
        click: z.object({ index: index.describe('the place of the click in the batch'), path: hashes }),
      }),
    }),
  },
} satisfies Contract

export type ProofState = AnswerOf<typeof proofContract, 'GET /api/proof'>
export type EventReceipt = AnswerOf<typeof proofContract, 'GET /api/events/:event/proof'>
export type ClickReceipt = AnswerOf<typeof proofContract, 'GET /api/clicks/:id/proof'>
