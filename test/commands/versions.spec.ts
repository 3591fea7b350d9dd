import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { z } from 'zod'
import { account } from '../../src/commands/accounts/account.ts'
import { approval } from '../../src/commands/approvals/approval.ts'
import { answer } from '../../src/commands/pages/answer.ts'
import { bio } from '../../src/commands/pages/bio.ts'
import { block } from '../../src/commands/operator/block.ts'
import { campaign } from '../../src/commands/links/campaign.ts'
import { channel, channelItem } from '../../src/commands/links/channel.ts'
import { acquire, fence, release, releaseUntil } from '../../src/commands/claims/claim.ts'
import { domain } from '../../src/commands/domains/domain.ts'
import { importing } from '../../src/commands/links/importing.ts'
import { link } from '../../src/commands/links/link.ts'
import { overlay } from '../../src/commands/pages/overlay.ts'
import { pixel } from '../../src/commands/pages/pixel.ts'
import { qr } from '../../src/commands/qr/qr.ts'
import { reclassification } from '../../src/commands/statistics/reclassification.ts'
import { report } from '../../src/commands/operator/report.ts'
import { team } from '../../src/commands/accounts/team.ts'
import { teamEvents } from '../../src/events/accounts/team.ts'
import { splash } from '../../src/commands/pages/splash.ts'
import { webhook } from '../../src/commands/webhooks/webhook.ts'
import { accountEvents } from '../../src/events/accounts/account.ts'
import { approvalEvents } from '../../src/events/approvals/approval.ts'
import { answerEvents } from '../../src/events/pages/answer.ts'
import { bioEvents } from '../../src/events/pages/bio.ts'
import { blockEvents } from '../../src/events/operator/block.ts'
import { campaignEvents } from '../../src/events/links/campaign.ts'
import { channelEvents } from '../../src/events/links/channel.ts'
import { claimEvents } from '../../src/events/claim.ts'
import { domainEvents } from '../../src/events/domains/domain.ts'
import type { EventType } from '../../src/events/index.ts'
import { resourceKinds } from '../../src/events/kinds.ts'
import { importEvents } from '../../src/events/imports/import.ts'
import { linkEvents } from '../../src/events/links/link.ts'
import { overlayEvents } from '../../src/events/pages/overlay.ts'
import { pixelEvents } from '../../src/events/pages/pixel.ts'
import { qrEvents } from '../../src/events/qr/qr.ts'
import { reclassificationEvents } from '../../src/events/statistics/reclassification.ts'
import { reportEvents } from '../../src/events/operator/report.ts'
import { splashEvents } from '../../src/events/pages/splash.ts'
import { webhookEvents } from '../../src/events/webhooks/webhook.ts'
import { versionOf } from '../../src/events/upcast.ts'
import { defined } from '../../src/lib/defined.ts'

interface Folds {
  readonly version: number
  readonly initialState: unknown
  readonly evolve: (state: never, event: never) => unknown
}

/** Code without its spaces, which depend on the compiler. */
const text = (code: { toString: () => string }) => code.toString().replaceAll(/\s+/g, '')
const shared = [acquire, release, releaseUntil, fence, defined].map(text)

/** A hash of all that a state follows from: the first state, the rules, and the shape of the events. */
const fingerprint = ({ initialState, evolve }: Folds, schemas: Readonly<Record<string, z.ZodType>>) => {
  const shapes = Object.entries({ ...claimEvents, ...schemas }).map(([type, schema]) => [
    type,
    versionOf(type as EventType),
    z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }),
  ])
  return createHash('sha256')
    .update(JSON.stringify([initialState, text(evolve), shared, shapes]))
    .digest('base64url')
    .slice(0, 12)
}

describe('the versions of deciders', () => {
  const all: readonly (readonly [string, Folds, Readonly<Record<string, z.ZodType>>, string])[] = [
    ['account', account, accountEvents, '17 EbfPoJFutGRZ'],
    ['answer', answer, answerEvents, '2 rNbCBqmQ-FRP'],
    ['bio', bio, bioEvents, '4 HI43DKv7XffP'],
    ['block', block, blockEvents, '2 zNgDq5VHVf5_'],
    ['report', report, reportEvents, '2 q_RISh9KtJJU'],
    ['campaign', campaign, campaignEvents, '3 xT18bOzikMCF'],
    ['channel', channel, channelEvents, '3 _PKswmCwFSru'],
    ['channelItem', channelItem, channelEvents, '1 MAOK4T7WCx_m'],
    ['domain', domain, domainEvents, '5 R3Svcn0RrjM_'],
    ['link', link, linkEvents, '11 kxduyyNbYXBk'],
    ['overlay', overlay, overlayEvents, '3 83Q8QAmIiKN5'],
    ['pixel', pixel, pixelEvents, '3 12mowPB2M0Bg'],
    ['qr', qr, qrEvents, '2 xEeEFa_ucthB'],
    ['splash', splash, splashEvents, '4 sM946KqX6nMg'],
    ['reclassification', reclassification, reclassificationEvents, '1 IDJI7Tih0f1j'],
    ['team', team, teamEvents, '4 sSRMlMOO9bTi'],
    ['import', importing, importEvents, '1 NnW5OBH4lRpx'],
    ['approval', approval, approvalEvents, '2 0fa00DJLCEXX'],
    ['webhook', webhook, webhookEvents, '4 sLAYDYC8I3Ip'],
  ]
  it('are checked for every kind of resource', () => {
    expect(all.map(([name]) => name)).to.include.members([...resourceKinds])
  })
  for (const [name, decider, schemas, expected] of all)
    it(`of ${name} goes up when its states are folded differently`, () => {
      const now = `${decider.version} ${fingerprint(decider, schemas)}`
      expect(
        now,
        `raise \`version\` in src/commands and enter the new fingerprint here, or old snapshots are used`,
      ).to.equal(expected)
    })
})
