import { expect } from 'chai'
import { campaign } from '../../src/commands/links/campaign.ts'
import { pixel } from '../../src/commands/pages/pixel.ts'
import { requireReferences } from '../../src/commands/references.ts'
import { callerOn, refusalOf } from '../support/caller.ts'
import { countingIds, newMemoryStore } from '../support/writer.ts'

describe('requireReferences', () => {
  let ann: ReturnType<typeof callerOn>
  let bob: ReturnType<typeof callerOn>
  beforeEach(async () => {
    const [store, { next }] = [await newMemoryStore(), countingIds()]
    ann = callerOn(store, 1, next)
    bob = callerOn(store, 2, next)
  })
  const everythingOf = async (who: typeof ann, host: string) => ({
    domain: await who.createDomain(host),
    campaign: await who.createCampaign(),
    channel: await who.createChannel(),
    pixels: [await who.createPixel(), await who.createPixel()],
  })

  it('accepts the resources of the account', async () => {
    const own = await everythingOf(ann, 'ann.example.com')
    for (const type of [`splash-${await ann.createSplash()}`, `overlay-${await ann.createOverlay()}`, 'frame'])
      await requireReferences(ann, { ...own, type })
  })

  it('accepts a link that refers to nothing', async () => {
    await requireReferences(ann, {})
    await requireReferences(ann, { domain: null, campaign: null, channel: null, pixels: [], type: 'splash' })
  })

  it('refuses each resource of another account, and names its field', async () => {
    const theirs = await everythingOf(bob, 'bob.example.com')
    const [splash, overlay] = [await bob.createSplash(), await bob.createOverlay()]
    for (const [references, message] of [
      [{ domain: theirs.domain }, `\`domain\` must refer to a domain of your account; ${theirs.domain} is not one.`],
      [
        { campaign: theirs.campaign },
        `\`campaign\` must refer to a campaign of your account; ${theirs.campaign} is not one.`,
      ],
      [
        { channel: theirs.channel },
        `\`channel\` must refer to a channel of your account; ${theirs.channel} is not one.`,
      ],
      [
        { pixels: [await ann.createPixel(), theirs.pixels[0]!] },
        `\`pixels\` must refer to a pixel of your account; ${theirs.pixels[0]} is not one.`,
      ],
      [{ type: `splash-${splash}` }, `\`type\` must refer to a splash page of your account; ${splash} is not one.`],
      [{ type: `overlay-${overlay}` }, `\`type\` must refer to an overlay of your account; ${overlay} is not one.`],
    ] as const) {
      const refused = await refusalOf(requireReferences(ann, references))
      expect([refused.code, refused.message]).to.deep.equal(['not_yours', message])
    }
  })

  it('refuses resources that are deleted or never existed', async () => {
    const [id, tag] = [await ann.createCampaign(), await ann.createPixel()]
    await ann.deleteOwned(campaign, id)
    await ann.deleteOwned(pixel, tag)
    for (const references of [{ campaign: id }, { pixels: [tag] }, { channel: 999 }, { type: 'splash-999' }])
      expect((await refusalOf(requireReferences(ann, references))).code, JSON.stringify(references)).to.equal(
        'not_yours',
      )
  })

  it('takes only a whole type with a number as a reference', async () => {
    for (const type of ['splash-x', 'splash-999x', 'no-splash-999', 'overlay-']) await requireReferences(ann, { type })
  })

  it('fails as the log does', async () => {
    const away = { ...ann, load: () => Promise.reject(new Error('away')) }
    expect(await requireReferences(away, { campaign: 1 }).catch(String)).to.equal('Error: away')
  })
})
