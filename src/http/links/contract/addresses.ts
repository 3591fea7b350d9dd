import { z } from 'zod'
import {
  type Answer,
  address,
  count,
  type Contract,
  id,
  revision,
  success,
  text,
  time,
  undoWith,
} from '../../api/contract.ts'

const number = id.describe('its number within the link, which stays the same').meta({ examples: [2] })
const shorturl = address.meta({ examples: ['https://go.example.com/spring'] })
const listed = {
  id: number,
  shorturl,
  domain: address,
  alias: text.meta({ examples: ['spring'] }),
  main: z.boolean().describe('whether it is the one that `shorturl` of the link shows'),
  date: time.describe('of the main one, when the link was created; of another one, since when it is a further address'),
}
/** An address in the details of a link. */
export const linkAddress = z
  .object({ ...listed, clicks: count.describe('of visitors who came in by it') })
  .meta({ id: 'LinkAddress' })
export type LinkAddress = Answer<typeof linkAddress>
/** An address in a list of links. */
export const listedAddress = z.object(listed).meta({ id: 'LinkListAddress' })

const removed = success({ message: text, undo: undoWith, revision }).meta({ id: 'AddressRemoved' })
export type AddressRemoved = Answer<typeof removed>

export const addressContract = {
  'POST /api/url/:id/addresses': {
    summary: 'Give a link one more address',
    description:
      'The link can be found at each of its addresses: at most 100, on one domain or on several. They share its destination, rules, limits and password, and an operator blocks all of them together.',
    fields: {
      custom:
        'alias: 1 to 64 letters, digits, `-` and `_`; on a domain with exact aliases a whole path; random if not sent',
      domain: 'one of your branded domains; the domain of the service if not sent',
      main: '`true`: it becomes the main one, which lists, QR codes and exports show; the former main one stays',
    },
    example: { custom: 'spring-sale' },
    answer: success({ id: number, shorturl, revision }).meta({ id: 'AddressAdded' }),
  },
  'DELETE /api/url/:id/address/:address/delete': {
    summary: 'Take an address away from a link',
    description:
      'Not its main one: make another one the main address first. An address that was taken away stays reserved for the account.',
    answer: removed,
  },
} satisfies Contract
