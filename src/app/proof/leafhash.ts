import { clockAfter, countClicks, type LeafPlace, leavesOf, type StoredEvent } from '../../events/proof/leaf.ts'
import { hasShadowedKey, parseRaw, type RawText } from '../../events/rawtext.ts'
import { hashSize } from '../../lib/transparency/merkle.ts'

/** Events to hash, and where the first of them is in the tree. */
export interface HashTask {
  readonly events: readonly RawText[]
  readonly place: LeafPlace
}
/** An event of a batch without a canonical form. */
export interface Invalid {
  readonly index: number
  readonly why: string
}
/** The hashes of leaves, one after another, and how many clicks the events have. */
export interface Hashed {
  readonly leaves: Uint8Array<ArrayBuffer>
  readonly invalid: readonly Invalid[]
  readonly clicks: number
}

const twice = 'a key that occurs twice, of which no reader sees the first'
/** Whether the JSON of an event has a key that neither its leaf nor any reader shows. */
const hidesKey = (text: RawText, { data }: StoredEvent) =>
  hasShadowedKey(text.data, data) || hasShadowedKey(text.metadata, JSON.parse(text.metadata))

/** Hashes events as the log stores them. */
export const hashTexts = ({ events, place }: HashTask): Hashed => {
  const leaves = new Uint8Array(events.length * hashSize)
  const invalid: Invalid[] = []
  let [at, clicks] = [place.at, 0]
  for (const [i, text] of events.entries()) {
    // one at a time: the objects take many times the memory of the text
    const event = parseRaw(text) as StoredEvent
    const known = invalid.length
    const onInvalid = (why: string) => invalid.push({ index: i, why })
    leaves.set(leavesOf([event], { size: place.size + i, at }, (_, why) => onInvalid(why))[0]!, i * hashSize)
    // what has too many levels is not gone through
    if (invalid.length === known && hidesKey(text, event)) onInvalid(twice)
    at = clockAfter([event], at)
    clicks += countClicks([event])
  }
  return { leaves, invalid, clicks }
}
