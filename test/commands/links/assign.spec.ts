import { expect } from 'chai'
import { assignItem, assignLink, changeChannels, removeItem } from '../../../src/commands/links/assign.ts'
import { channel } from '../../../src/commands/links/channel.ts'
import { link } from '../../../src/commands/links/link.ts'
import type { EventStore } from '../../../src/events/store.ts'
import { callerOn, refusalOf } from '../../support/caller.ts'
import { countingIds, newMemoryStore, story } from '../../support/writer.ts'

describe('the use case', () => {
  let store: EventStore
  let ann: ReturnType<typeof callerOn>
  let bob: ReturnType<typeof callerOn>
  beforeEach(async () => {
    store = await newMemoryStore()
    const { next } = countingIds()
    ann = callerOn(store, 1, next)
    bob = callerOn(store, 2, next)
  })

  describe('assignItem', () => {
    it('puts links, bio pages and QR codes into a channel', async () => {
      const id = await ann.createChannel()
      const items = { links: await ann.createLink(), bio: await ann.createBio(), qr: await ann.createQr() }
      for (const [kind, item] of Object.entries(items)) {
        await assignItem(ann, id, kind, item)
        expect(await story(store, `channelitem-${id}-${kind}-${item}`)).to.deep.equal([
          `channelitem-${id}-${kind}-${item} ItemAssignedToChannel`,
        ])
      }
    })

    it('appends nothing when the item is in the channel already', async () => {
      const [id, item] = [await ann.createChannel(), await ann.createLink()]
      await assignItem(ann, id, 'links', item)
      const before = await store.head('all')
      await assignItem(ann, id, 'links', item)
      expect(await store.head('all')).to.equal(before)
    })

    it('refuses a channel of another account, and one that is deleted', async () => {
      const [theirs, deleted, item] = [await bob.createChannel(), await ann.createChannel(), await ann.createLink()]
      await ann.deleteOwned(channel, deleted)
      for (const id of [theirs, deleted, 999]) {
        const { code, message } = await refusalOf(assignItem(ann, id, 'links', item))
        expect([code, message], String(id)).to.deep.equal(['not_found', 'Channel not found.'])
      }
    })

    it('refuses an item of another account, and one that is deleted', async () => {
      const [id, theirs, deleted] = [await ann.createChannel(), await bob.createLink(), await ann.createLink()]
      await ann.write(link, { type: 'DeleteLink', id: deleted, account: 1 })
      for (const item of [theirs, deleted, 999]) {
        const { code, message } = await refusalOf(assignItem(ann, id, 'links', item))
        expect([code, message], String(item)).to.deep.equal(['not_found', 'Link not found.'])
      }
      expect((await refusalOf(assignItem(ann, id, 'bio', await bob.createBio()))).message).to.equal(
        'Bio page not found.',
      )
      expect((await refusalOf(assignItem(ann, id, 'qr', await bob.createQr()))).message).to.equal('QR code not found.')
    })

    it('refuses an unknown kind of item, after it has found the channel', async () => {
      const [own, theirs] = [await ann.createChannel(), await bob.createChannel()]
      const { code, message } = await refusalOf(assignItem(ann, own, 'pages', 1))
      expect([code, message]).to.deep.equal(['not_one_of', '`type` must be one of links, bio, qr.'])
      expect((await refusalOf(assignItem(ann, theirs, 'pages', 1))).code).to.equal('not_found')
    })
  })

  describe('removeItem', () => {
    it('takes an item out of a channel, once', async () => {
      const [id, item] = [await ann.createChannel(), await ann.createLink()]
      await assignItem(ann, id, 'links', item)
      for (let time = 0; time < 2; time++) await removeItem(ann, id, 'links', item)
      expect(await story(store, `channelitem-${id}-links-${item}`)).to.deep.equal(
        ['ItemAssignedToChannel', 'ItemRemovedFromChannel'].map((type) => `channelitem-${id}-links-${item} ${type}`),
      )
    })

    it('refuses a channel or an item of another account', async () => {
      const [id, item] = [await ann.createChannel(), await ann.createLink()]
      expect((await refusalOf(removeItem(bob, id, 'links', item))).message).to.equal('Channel not found.')
      expect((await refusalOf(removeItem(ann, id, 'links', await bob.createLink()))).message).to.equal(
        'Link not found.',
      )
    })
  })

  describe('changeChannels', () => {
    it('puts an item into a channel, and takes it out of several', async () => {
      const [one, two, id] = [await ann.createChannel(), await ann.createChannel(), await ann.createLink()]
      const item = { kind: 'links', id } as const
      for (const into of [one, two]) await changeChannels(ann, item, { into })
      await changeChannels(ann, item, { outOf: [one, two] })
      for (const channelId of [one, two])
        expect(await story(store, `channelitem-${channelId}-links-${id}`)).to.deep.equal(
          ['ItemAssignedToChannel', 'ItemRemovedFromChannel'].map(
            (type) => `channelitem-${channelId}-links-${id} ${type}`,
          ),
        )
    })
  })

  describe('assignLink', () => {
    const campaignOf = async (id: number) => (await ann.load(link, id)).state.fields.campaign

    it('moves a link from campaign to campaign', async () => {
      const [id, one, two] = [await ann.createLink(), await ann.createCampaign(), await ann.createCampaign()]
      await assignLink(ann, one, id)
      expect(await campaignOf(id)).to.equal(one)
      await assignLink(ann, two, id)
      expect(await campaignOf(id)).to.equal(two)
    })

    it('appends nothing when the link is in the campaign already', async () => {
      const [id, one] = [await ann.createLink(), await ann.createCampaign()]
      await assignLink(ann, one, id)
      await assignLink(ann, one, id)
      expect(await story(store, `link-${id}`)).to.deep.equal([`link-${id} LinkCreated`, `link-${id} LinkUpdated`])
    })

    it('refuses a campaign or a link of another account', async () => {
      const [id, theirs] = [await ann.createLink(), await bob.createCampaign()]
      expect((await refusalOf(assignLink(ann, theirs, id))).message).to.equal('Campaign not found.')
      const own = await ann.createCampaign()
      expect((await refusalOf(assignLink(ann, own, await bob.createLink()))).message).to.equal('Link not found.')
      expect(await campaignOf(id)).to.equal(null)
    })
  })
})
