import { z } from 'zod'
import { hashLeaf, hashSize, rootByInclusion, rootsByConsistency } from '../../lib/transparency/merkle.ts'
import { type Checkpoint, parseCheckpoint, parseNote, type Verifier } from '../../lib/transparency/note.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import type { StoredEvent } from './leaf.ts'

const path = z.array(z.base64()).readonly()

/** The proof that an event is in the log: its hashes lead to the root of a signed checkpoint. */
const Proof = z.object({
  index: z.int().nonnegative(),
  path,
  checkpoint: z.string(),
  /** of a click: its place among the clicks of the event */
  click: z.object({ index: z.int().nonnegative(), path }).optional(),
})

/**
 * A receipt: an event, or a click and the event that recorded it, in canonical form, and the proof that the log has it.
 * docs/proof.md describes it.
 */
export const Receipt = z.object({ event: z.string(), click: z.string().optional(), proof: Proof })
export type Receipt = Readonly<z.infer<typeof Receipt>>
export interface ClickReceipt extends Receipt {
  readonly click: string
  readonly proof: Receipt['proof'] & { readonly click: NonNullable<Receipt['proof']['click']> }
}

/**
 * The proof that the log of a checkpoint begins with its first `first` events as they were. docs/proof.md describes it.
 */
export const Extension = z.object({ first: z.int().nonnegative(), path, checkpoint: z.string() })
export type Extension = Readonly<z.infer<typeof Extension>>

/** How far the proof of a log is. */
export interface ProofState {
  /** the public key that verifies checkpoints */
  readonly key: string
  /** events in the tree */
  readonly events: number
  /** the last signed checkpoint */
  readonly checkpoint?: { readonly events: number; readonly note: string; readonly at: Date } | undefined
  /** the last time that the whole log was read again and found as it was signed */
  readonly verified?: { readonly events: number; readonly at: Date } | undefined
}

/** A checkpoint that was published does not fit the log any more. */
export class CheckpointMismatch extends OperatorError {
  override readonly name = 'CheckpointMismatch'
  constructor({ size }: { readonly size: number }) {
    super(
      `the log does not fit the signed checkpoint of its first ${size} events, so no other is signed: \`linkledger verify\` finds what has changed; after it was restored from an older backup, \`linkledger proof restart\` gives up what was signed since`,
    )
  }
}

/** An event cannot be written as JSON. */
export class NoCanonicalForm extends OperatorError {
  override readonly name = 'NoCanonicalForm'
  constructor(ordinal: number | undefined, why: string) {
    super(
      `event ${ordinal} has ${why} and no receipt: something else than the service has changed or added it. \`linkledger verify\` finds all that has changed`,
    )
  }
}

/** The hashes of the tree over the log do not lead to the root of the newest checkpoint. */
export class TreeDamaged extends OperatorError {
  override readonly name = 'TreeDamaged'
  constructor({ size }: { readonly size: number }) {
    super(
      `the tree over the log does not fit the signed checkpoint of its first ${size} events, so nothing can be proved: \`linkledger verify\` says what was changed; when only the tree was, \`linkledger rebuild\` makes it again`,
    )
  }
}

/**
 * Makes receipts. `unsigned`: no signed checkpoint has the event yet. They throw `CheckpointMismatch` for an event that
 * was changed since it was signed, `NoCanonicalForm` for one that no service has stored, and `TreeDamaged` when the
 * hashes beside it were changed.
 */
export interface Proofs {
  readonly state: () => Promise<ProofState>
  /** Returns undefined when there is no such event, or it may not be read. */
  readonly ofEvent: (
    ordinal: number,
    mayRead?: (event: Pick<StoredEvent, 'stream' | 'type' | 'metadata'>) => boolean,
  ) => Promise<Receipt | 'unsigned' | undefined>
  /** Returns undefined when there is no such click, or it is not on something of the account. */
  readonly ofClick: (id: string, account?: number) => Promise<ClickReceipt | 'unsigned' | undefined>
}

/** Why a receipt proves nothing. */
export class BadReceipt extends Error {
  override readonly name = 'BadReceipt'
}

const bytes = (texts: readonly string[]) => {
  const hashes = texts.map((text) => Buffer.from(text, 'base64'))
  if (hashes.some(({ length }) => length !== hashSize)) throw new BadReceipt('a path has something that is not a hash')
  return hashes
}
/** UTF-8 has no half characters: all of them, and U+FFFD, would have one hash. */
const checkText = (text: string, what: string) => {
  if (!text.isWellFormed()) throw new BadReceipt(`${what} has a lone surrogate`)
}
const Leaf = z.object({ ordinal: z.int() })
const Batch = z.object({ data: z.object({ clicks: z.object({ count: z.int(), root: z.base64() }) }) })

const parseEvent = <T>(schema: z.ZodType<T>, event: string): T => {
  try {
    return schema.parse(JSON.parse(event))
  } catch (cause) {
    throw new BadReceipt('`event` is not the canonical form of such an event', { cause })
  }
}

const checkClick = ({ event, click, proof }: Receipt) => {
  if (click === undefined) return
  checkText(click, '`click`')
  if (!proof.click) throw new BadReceipt('`proof.click` is missing')
  const { count, root } = parseEvent(Batch, event).data.clicks
  const found = rootByInclusion(hashLeaf(click), proof.click.index, count, bytes(proof.click.path))
  if (!found?.equals(Buffer.from(root, 'base64'))) throw new BadReceipt('the click is not among those of the event')
}

/** Returns what a note says that the key has signed. Throws `BadReceipt`. */
export const signedCheckpoint = (text: string, verifier: Verifier): Checkpoint => {
  checkText(text, 'the checkpoint')
  const note = parseNote(text)
  const checkpoint = note && parseCheckpoint(note.text)
  if (!note || !checkpoint) throw new BadReceipt('it has no signed checkpoint')
  if (!verifier.verifies(note) || checkpoint.origin !== verifier.name)
    throw new BadReceipt('the checkpoint is not signed by this key')
  return checkpoint
}

/** Returns the checkpoint in which a receipt shows its event. Throws `BadReceipt`. */
export const verifyReceipt = (receipt: Receipt, verifier: Verifier): Checkpoint => {
  const { event, proof } = receipt
  checkText(event, '`event`')
  const checkpoint = signedCheckpoint(proof.checkpoint, verifier)
  if (parseEvent(Leaf, event).ordinal !== proof.index)
    throw new BadReceipt('`proof.index` is not the ordinal of the event')
  const root = rootByInclusion(hashLeaf(event), proof.index, checkpoint.size, bytes(proof.path))
  if (!root?.equals(checkpoint.root)) throw new BadReceipt('the event is not in the log of the checkpoint')
  checkClick(receipt)
  return checkpoint
}

/** Returns the newer of two checkpoints, whose log begins with that of the older one. Throws `BadReceipt`. */
export const verifyExtension = ({ first, path, checkpoint }: Extension, older: Checkpoint, verifier: Verifier) => {
  const newer = signedCheckpoint(checkpoint, verifier)
  if (first !== older.size) throw new BadReceipt('it is about another checkpoint')
  const roots = rootsByConsistency(first, newer.size, older.root, bytes(path))
  if (!roots?.[0].equals(older.root) || !roots[1].equals(newer.root))
    throw new BadReceipt('the log does not begin with the events of the older checkpoint')
  return newer
}
