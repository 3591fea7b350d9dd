import { z } from 'zod'
import { address, count, type Contract, success, text, time } from '../../api/contract.ts'
import { reasons } from '../rehearsal.ts'

const counts = {
  clicks: count,
  visits: count.describe('including bots, link previewers, assistants and prefetching browsers'),
}
const kinds = Object.keys(reasons) as (keyof typeof reasons)[]
const reasonShape = Object.fromEntries(kinds.map((kind) => [kind, z.object(counts).optional()]))
const rule = text
  .describe(
    '`link`, or what chose the destination: `device:ios`, `browser:safari`, `location:canada`, `language:fr`, `variant:2`. Without a destination: `not-started`, `expired`, `used-up` or `loop`; `expired_url` for the place of visitors of a link that has ended',
  )
  .meta({ examples: ['location:canada'] })
const outcome = z.object({ destination: address, rule })

export const rehearseContract = {
  'POST /api/url/:id/rehearse': {
    summary: 'Rehearse rules with recorded clicks',
    description:
      'Returns where the recorded clicks of a period would have gone by the rules of `draft`, for each destination and rule. Without `draft`, each click is decided again by the rules in force at its time: all of them are `reproduced`, except `not_decidable` ones. Nothing is changed. One rehearsal of an account at a time.',
    fields: {
      draft:
        'fields of the link that decide where visitors go, as in an update of it; those that are not sent stay as they are now. `{}`: the rules of now',
      proposal: 'the number of a change of this link that waits for approval: its rules, in place of a `draft`',
      from: 'a time or a day; 30 days before `to` if not sent',
      to: 'a time or a day, which is included; now if not sent',
      tz: 'the time zone of these, unless they name their offset: `Europe/Berlin`; UTC if not sent',
    },
    example: { draft: { geotarget: [{ location: 'Canada', link: 'https://example.com/ca' }] } },
    failures: { 409: { description: 'A rehearsal of the account is still running.' } },
    answer: success({
      data: z.object({
        from: time,
        to: time.describe('exclusive'),
        draft: z.boolean(),
        total: z.object(counts).describe('all that were recorded'),
        reproduced: z.object(counts).describe('those that go to the same destination, by the same rule'),
        not_decidable: z
          .object({
            ...counts,
            reasons: z
              .object(reasonShape)
              .describe(
                'what the rules ask about and was not recorded: `languages` and `device` of older clicks, the `variant` a visitor would get, or the rules of a `revision`',
              ),
          })
          .describe('those of which it is not known where they would go'),
        destinations: z.array(outcome.extend({ recorded: z.object(counts), rehearsed: z.object(counts) })),
        moves: z.array(z.object({ from: outcome, to: outcome, ...counts })),
        left_out: z
          .object({ destinations: count, moves: count })
          .describe('how many are not in the answer, which has the 500 with most visits'),
      }),
    }),
  },
} satisfies Contract
