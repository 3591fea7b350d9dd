import type { Webhook } from '../../commands/webhooks/webhook.ts'
import type { Problem } from '../../lib/problems/problem.ts'

/** What a test of a webhook has shown. */
export interface Tested {
  /** id of the message */
  readonly message: string
  readonly delivered: boolean
  readonly status: number | null
  readonly ms: number
  readonly problem: string
  readonly excerpt: string
}
/** The webhook to be tested. */
export interface TestTarget extends Pick<Webhook, 'old'> {
  readonly account: number
  readonly webhook: number
  /** makes the id of the message */
  readonly id: string
  readonly url: string
  readonly secret: string
}

/** What sends to webhooks at once. */
export interface WebhookSending {
  /** Sends a test message to a webhook at once, and waits for the answer. */
  readonly test: (target: TestTarget) => Promise<Tested>
  /**
   * Sends a message again at once, out of order, and waits for the answer; undefined when the webhook does not send it.
   */
  readonly resend: (target: {
    readonly webhook: number
    readonly own: Webhook
    readonly message: { readonly id: string; readonly ordinal: number; readonly part: number }
  }) => Promise<Tested | undefined>
  /** Returns why nothing is ever sent to an address. */
  readonly problemOf: (url: string) => Problem | undefined
}
