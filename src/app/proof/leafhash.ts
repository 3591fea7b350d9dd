import { clockAfter, countClicks, type LeafPlace, leavesOf, type StoredEvent } from '../../events/proof/leaf.ts'
import { parseRaw, type RawText } from '../../events/rawtext.ts'
import { hashSize } from '../../lib/merkle.ts'

/** Events to hash, and where the first of them is in the tree. */
export interface HashTask {
  readonly events: readonly RawText[]
  readonly place: LeafPlace
}
/** The hashes of leaves, one after another, and how many clicks the events have. */
export interface Hashed {
  readonly leaves: Uint8Array<ArrayBuffer>
  readonly clicks: number
}

/** Hashes events as the log stores them. */
export const hashTexts = ({ events, place }: HashTask): Hashed => {
  const leaves = new Uint8Array(events.length * hashSize)
  let [at, clicks] = [place.at, 0]
  for (const [i, text] of events.entries()) {
    // one at a time: the objects take many times the memory of the text
    const event = parseRaw(text) as StoredEvent
    leaves.set(leavesOf([event], { size: place.size + i, at })[0]!, i * hashSize)
    at = clockAfter([event], at)
    clicks += countClicks([event])
  }
  return { leaves, clicks }
}
