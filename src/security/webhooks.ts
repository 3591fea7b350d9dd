import { createHmac, hkdfSync, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const bytes = 32

/**
 * Makes the secret of a webhook, as Standard Webhooks writes it. Of one seed (32 random bytes), it is always the same.
 */
export const newWebhookSecret = (seed?: Buffer): string => {
  const secret = seed ? Buffer.from(hkdfSync('sha256', seed, '', 'webhook secret 1', bytes)) : randomBytes(bytes)
  return `${prefix}${secret.toString('base64')}`
}

/** What is signed: the id of a message, when it is sent (seconds since 1970), and its body. */
export interface Signed {
  readonly id: string
  readonly timestamp: number
  readonly body: string
}

/** Returns the headers of a message, with a signature for each secret. See https://www.standardwebhooks.com. */
export const webhookHeaders = (secrets: readonly string[], { id, timestamp, body }: Signed) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' '),
})
