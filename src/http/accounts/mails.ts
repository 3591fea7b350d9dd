import { createHmac } from 'node:crypto'
import type { MailOrder, Outbox } from '../../security/outbox.ts'
import { fail } from '../api/errors.ts'
import { countNetworks, type Limiter } from '../api/limits/limiter.ts'

/** Orders mails. None is sent within a request, so that its duration discloses nothing about the mail. */
export interface Mails {
  /**
   * Orders a mail, for an account if there is one. Ignores orders beyond five mails of a kind an hour to an address
   * that was entered in a form, and beyond ten notices of a kind an hour to an owner: an attacker could hide a notice
   * in a full mailbox.
   */
  readonly order: (order: MailOrder, account?: number) => Promise<void>
  /** Counts a request for a mail, of an account or an address block. Fails with 429 after twenty in an hour. */
  readonly count: (who: string) => Promise<void>
}

export interface MailsOptions {
  readonly outbox: Pick<Outbox, 'order'>
  readonly limiter: Limiter
  readonly pepper: Buffer
  /** Called after an order. It must not wait. */
  readonly onOrder: () => void
}

const hour = 3600
const [perRecipient, perRequester, perOwner] = [5, 20, 10]
/** Notices that a key or a session can cause without a limit. */
const repeatable = new Set<MailOrder['kind']>([
  'keyAdded',
  'keyWidened',
  'webhookAdded',
  'webhookMoved',
  'passkeyAdded',
  'passkeyRemoved',
  'newBrowser',
])

export const createMails = ({ outbox, limiter, pepper, onOrder }: MailsOptions): Mails => {
  /** A keyed hash: the table of limits is not for personal data. */
  const nameOf = (address: string) => createHmac('sha256', pepper).update(`mail ${address}`).digest('base64url')
  const isTooMany = async (order: MailOrder, account: number | undefined) => {
    if (repeatable.has(order.kind))
      return (await limiter.count(`notices ${order.kind} ${account}`, perOwner, hour)).over
    // a notice goes to the owner, after the event
    if (!('to' in order) || order.kind === 'emailChanged') return false
    // each kind separately, so that registrations with the owner's address cannot use up their resets
    return (await limiter.count(`mail to ${order.kind} ${nameOf(order.to)}`, perRecipient, hour)).over
  }
  return {
    order: async (order, account) => {
      if (await isTooMany(order, account)) return
      await outbox.order(order, account)
      onOrder()
    },
    count: async (who) => {
      const { over, wait } = await countNetworks(limiter, 'mails', who, perRequester, hour)
      if (over)
        fail(
          429,
          'too_many_requests',
          { what: 'mails', minutes: Math.ceil(wait / 60) },
          { 'Retry-After': String(wait) },
        )
    },
  }
}
