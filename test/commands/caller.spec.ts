import { expect } from 'chai'
import { requireOwn } from '../../src/commands/caller.ts'
import { link } from '../../src/commands/links/link.ts'
import { pixel } from '../../src/commands/pages/pixel.ts'
import { ChangedByNewer } from '../../src/events/unknown.ts'
import { callerOn, refusalOf } from '../support/caller.ts'
import { at } from '../support/events.ts'
import { appendNewer } from '../support/newer.ts'
import { countingIds, newMemoryStore } from '../support/writer.ts'

describe('a resource that an account works on', () => {
  const opened = async () => {
    const store = await newMemoryStore()
    const { next } = countingIds()
    return { store, ann: callerOn(store, 1, next), bob: callerOn(store, 2, next) }
  }

  it('is found with its id, its date and its revision', async () => {
    const { ann } = await opened()
    const id = await ann.createLink()
    const found = await requireOwn(ann, link, id)
    expect(found).to.deep.include({ id, account: 1, status: 'open', created: new Date(at(0)), revision: 0 })
  })

  it('is not found by another account, nor once it is deleted', async () => {
    const { ann, bob } = await opened()
    const id = await ann.createPixel()
    expect((await refusalOf(requireOwn(bob, pixel, id))).message).to.equal('Pixel not found.')
    await ann.deleteOwned(pixel, id)
    expect((await refusalOf(requireOwn(ann, pixel, id))).code).to.equal('not_found')
  })

  it('is unavailable to its owner, and still unknown to others, when a newer release has changed it', async () => {
    const { store, ann, bob } = await opened()
    const id = await ann.createLink()
    await appendNewer(store, `link-${id}`)
    const failure = await requireOwn(ann, link, id).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(ChangedByNewer)
    expect((await refusalOf(requireOwn(bob, link, id))).message).to.equal('Link not found.')
  })

  it('is unavailable to all when a newer release has created it: its owner is unknown', async () => {
    const { store, bob } = await opened()
    await appendNewer(store, 'link-7')
    expect(await requireOwn(bob, link, 7).catch((error: unknown) => error)).to.be.instanceOf(ChangedByNewer)
  })

  it('fails as the log does', async () => {
    const { ann } = await opened()
    const load = () => Promise.reject(new Error('away'))
    expect(await requireOwn({ ...ann, load }, link, 1).catch(String)).to.equal('Error: away')
  })
})
