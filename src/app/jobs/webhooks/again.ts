import type { Webhook } from '../../../commands/webhooks/webhook.ts'
import type { Click } from '../../../events/statistics/click.ts'
import { definitionOf, type Definition, type MessagePlace } from './hook.ts'
import { passing } from './filter.ts'
import { isHidden, type Message, messageOf, rangeOf, wantsClick } from './message.ts'
import { openMemberships } from './memberships.ts'
import type { WebhookOptions } from './options.ts'
import { positionBefore, readSome } from './read.ts'
import { withUnreadable } from './unreadable.ts'

/**
 * Returns the message of a webhook at a place of the log, and what it is sent with, also while the webhook is disabled.
 */
export const messageAt = async (
  { store, ordinals, presenter, onProblem }: Pick<WebhookOptions, 'store' | 'ordinals' | 'presenter' | 'onProblem'>,
  own: Webhook,
  { ordinal, part }: MessagePlace,
): Promise<{ readonly message: Message; readonly definition: Definition } | undefined> => {
  const definition = definitionOf({ ...own, stopped: null })
  const position = await ordinals.positionOf(ordinal)
  if (!definition || position === undefined) return undefined
  const range = { after: await positionBefore({ ordinals }, ordinal), until: position, filter: 'all' } as const
  const log = withUnreadable(store, onProblem)
  const events = await readSome({ store: log }, range, new AbortController().signal)
  const event = events.find((one) => one.position === position)
  if (!event || isHidden(event, presenter)) return undefined
  const { stream, revision } = event
  const { account } = own
  const wants = (click: Click) => wantsClick({ account, definition }, click)
  const passes = await passing(openMemberships(log), definition, event, wants, rangeOf({ part }))
  const message = messageOf({ account, definition }, event, { ordinal, part, stream, revision }, presenter, passes)
  return message && { message, definition }
}
