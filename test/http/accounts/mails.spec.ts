import { expect } from 'chai'
import { createMails } from '../../../src/http/accounts/mails.ts'
import type { MailOrder } from '../../../src/security/outbox.ts'

describe('notices to the owner of an account', () => {
  const start = () => {
    const counts = new Map<string, number>()
    const ordered: MailOrder[] = []
    const limiter = {
      count: async (key: string, limit: number) => {
        counts.set(key, (counts.get(key) ?? 0) + 1)
        return { over: counts.get(key)! > limit, remaining: 0, wait: 1 }
      },
    }
    const mails = createMails({
      outbox: { order: async (order) => void ordered.push(order) },
      limiter: limiter as unknown as Parameters<typeof createMails>[0]['limiter'],
      pepper: Buffer.alloc(32),
      onOrder: () => {},
    })
    return { mails, ordered }
  }

  it('are limited to ten an hour of each kind that a key can repeat, so that they do not hide others', async () => {
    const { mails, ordered } = start()
    for (let webhook = 1; webhook <= 20; webhook++) await mails.order({ kind: 'webhookAdded', lang: 'en', webhook }, 7)
    expect(ordered).to.have.length(10)
    await mails.order({ kind: 'webhookAdded', lang: 'en', webhook: 21 }, 8)
    await mails.order({ kind: 'keyAdded', lang: 'en', key: 'k' }, 7)
    await mails.order({ kind: 'secondFactorRemoved', lang: 'en', after: 1 }, 7)
    expect(ordered).to.have.length(13)
  })

  it('say each new password, however many there are', async () => {
    const { mails, ordered } = start()
    for (let n = 0; n < 20; n++) await mails.order({ kind: 'passwordChanged', lang: 'en', password: String(n) }, 7)
    expect(ordered).to.have.length(20)
  })
})
