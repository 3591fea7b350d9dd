import { setTimeout as sleep } from 'node:timers/promises'
import { clickTexts, ifCanonical, leafOf, type StoredEvent } from '../../events/proof/leaf.ts'
import { parseClickId } from '../../events/ordinals.ts'
import {
  CheckpointMismatch,
  type Extension,
  NoCanonicalForm,
  type Proofs,
  type Receipt,
  TreeDamaged,
} from '../../events/proof/receipt.ts'
import type { StoredLog } from '../../events/store.ts'
import {
  consistencyRanges,
  hashLeaf,
  hashLeaves,
  hashSize,
  inclusionRanges,
  type Range,
  rootByInclusion,
  rootOf,
  rootsByConsistency,
} from '../../lib/transparency/merkle.ts'
import { MissingTile } from '../../lib/transparency/tiles.ts'
import { checkpointText, createSigner, parseCheckpoint, type Signer } from '../../lib/transparency/note.ts'
import {
  checkpointAge,
  keepCheckpoint,
  type KeptCheckpoint,
  lastVerification,
  latestSigning,
  newestCheckpoint,
} from '../../postgres/checkpoints.ts'
import { followTree } from '../../projections/proof/tree.ts'
import { rootsOf, treeSize } from '../../queries/proof/tree.ts'
import type { Database } from '../../postgres/database.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { ProofKeyLost } from '../../security/keyring.ts'
import type { Ledger } from '../log/ledger.ts'
import { engineOf } from '../log/postgres.ts'
import type { SigningClock } from './clock.ts'
import { type Counter, openCounter } from './counter.ts'

/** The name of a log in its checkpoints. It stays when the service gets another address, or the log another engine. */
export const originOf = (logId: string): string => `linkledger/log/${logId}`

/** Opens the key that signs the checkpoints of a log. It is created when there is none yet. */
export const openSigner = async ({ stored, keys }: Pick<Ledger, 'stored' | 'keys'>): Promise<Signer> =>
  createSigner(originOf(stored.logId), await keys.proofSeed())

/**
 * Signs a checkpoint of the first `size` events, unless one of at least as many is kept. Throws `CheckpointMismatch`.
 */
export const signCheckpoint = async (
  db: Database,
  signer: Signer,
  size: number,
  counter: Pick<Counter, 'number' | 'note'>,
): Promise<KeptCheckpoint> => {
  const newest = await newestCheckpoint(db)
  if (newest && newest.size > size) {
    // another process may have added events, and signed them, since this one looked
    if ((await treeSize(db)) >= newest.size) return newest
    throw new CheckpointMismatch(newest)
  }
  const [root, before] = await rootsOf(db, [
    [0, size],
    [0, newest?.size ?? 0],
  ])
  if (newest && !parseCheckpoint(newest.note)?.root.equals(before!)) throw new CheckpointMismatch(newest)
  if (newest?.size === size) return newest
  const checkpoint = { size, note: signer.sign(checkpointText({ origin: signer.name, size, root: root! })) }
  await counter.note(await keepCheckpoint(db, checkpoint, counter.number))
  return { ...checkpoint, signed_at: new Date() }
}

/**
 * Returns whether a checkpoint is due so many ms after the last one. One that lies in the future was signed before the
 * clock was set back: waiting for it would leave what is added until then unsigned.
 */
export const isCheckpointDue = (age: number | undefined, interval: number): boolean =>
  age === undefined || age >= interval || age < 0

/** Lets the tree over the log grow with it, and signs its checkpoints, until the signal aborts. */
export const followProofs = async (
  ledger: Pick<Ledger, 'config' | 'stored' | 'store' | 'keys'>,
  db: Database,
  signal: AbortSignal,
  clock: Pick<SigningClock, 'signedAt'> & { readonly worked: () => void },
): Promise<void> => {
  const { config, stored } = ledger
  const signer = await openSigner(ledger)
  const counter = await openCounter(ledger)
  const interval = config.CHECKPOINT_SECONDS * 1000
  const latest = await latestSigning(db)
  if (latest) clock.signedAt(latest)
  const sign = async (size: number) => {
    const newest = await newestCheckpoint(db)
    if (newest) clock.signedAt(newest.signed_at)
    const isDue = (newest && newest.size > size) || isCheckpointDue(await checkpointAge(db), interval)
    if (newest?.size !== size && isDue) await signCheckpoint(db, signer, size, counter)
    clock.worked()
  }
  await followTree({ db, store: stored, engine: engineOf(config) }, sign, signal)
}

type ProofParts = Pick<Ledger, 'db' | 'stored' | 'ordinals'>

/** Returns the event with an ordinal, as it is stored; undefined when there is none, or it is not numbered yet. */
const readEvent = async ({ stored, ordinals }: ProofParts, ordinal: number): Promise<StoredEvent | undefined> => {
  const [position, before] = await Promise.all([
    ordinals.positionOf(ordinal),
    ordinal === 0 ? 0n : ordinals.positionOf(ordinal - 1),
  ])
  return position === undefined || before === undefined ? undefined : firstAfter(stored, before)
}

const firstAfter = async (stored: Pick<StoredLog, 'subscribe'>, after: bigint) => {
  const reading = new AbortController()
  try {
    for await (const [event] of stored.subscribe({ after, filter: 'all', limit: 1, signal: reading.signal }))
      return event
    return undefined
  } finally {
    reading.abort()
  }
}

/**
 * Returns the roots of ranges of events in the tree that the newest checkpoint is of; undefined while the tree grows
 * again. Throws `TreeDamaged` when it has them no more.
 */
const rootsUnder = (db: Database, newest: KeptCheckpoint, ranges: readonly Range[]) =>
  rootsOf(db, ranges).catch(async (error: unknown) => {
    if (!(error instanceof MissingTile)) throw error
    if ((await treeSize(db)) >= newest.size) throw new TreeDamaged(newest)
    return undefined
  })

/** Proves that a leaf is in the tree of the newest checkpoint; undefined when that does not have it yet. */
const prove = async (db: Database, index: number, leaf: string): Promise<Receipt['proof'] | undefined> => {
  const newest = await newestCheckpoint(db)
  if (!newest || newest.size <= index) return undefined
  const found = await rootsUnder(db, newest, [[index, index + 1], ...inclusionRanges(index, newest.size)])
  if (!found) return undefined
  const [inTree, ...path] = found
  const { root } = parseCheckpoint(newest.note)!
  const leadsToRoot = (hash: Buffer) => rootByInclusion(hash, index, newest.size, path)?.equals(root) ?? false
  // a receipt that proves nothing must not leave the service
  if (!leadsToRoot(hashLeaf(leaf)))
    throw leadsToRoot(inTree!) ? new CheckpointMismatch(newest) : new TreeDamaged(newest)
  return { index, path: path.map((hash) => hash.toString('base64')), checkpoint: newest.note }
}

/**
 * Proves that the log of the newest checkpoint begins with its first events as they were; undefined when it has fewer,
 * or while its tree grows again. Throws `TreeDamaged`.
 */
export const proveExtension = async (db: Database, first: number): Promise<Extension | undefined> => {
  const newest = await newestCheckpoint(db)
  if (!newest || newest.size < first) return undefined
  const found = await rootsUnder(db, newest, [[0, first], ...consistencyRanges(first, newest.size)])
  if (!found) return undefined
  const [older, ...path] = found
  const [, root] = rootsByConsistency(first, newest.size, older!, path) ?? []
  if (first > 0 && !root?.equals(parseCheckpoint(newest.note)!.root)) throw new TreeDamaged(newest)
  return { first, path: path.map((hash) => hash.toString('base64')), checkpoint: newest.note }
}

const refuse = (ordinal: number | undefined) => (why: string) => {
  throw new NoCanonicalForm(ordinal, why)
}

/** Returns what makes receipts. Without an account, any event can be shown: an operator asks. */
export const openProofs = (parts: ProofParts): Omit<Proofs, 'state'> => {
  const { db, ordinals } = parts
  const leafAt = async (event: StoredEvent, ordinal: number, hashes?: Buffer) => {
    const onInvalid = refuse(ordinal)
    return leafOf(event, ordinal, (await ordinals.timeOf(ordinal)) ?? event.at, { hashes, onInvalid })
  }

  return {
    ofEvent: async (ordinal, mayRead = () => true) => {
      const found = await readEvent(parts, ordinal)
      if (!found || !mayRead(found)) return undefined
      const event = await leafAt(found, ordinal)
      const proof = await prove(db, ordinal, event)
      return proof ? { event, proof } : 'unsigned'
    },
    ofClick: async (id, account) => {
      const { ordinal, index } = parseClickId(id) ?? {}
      const found = ordinal === undefined ? undefined : await readEvent(parts, ordinal)
      const clicks = found ? (ifCanonical(() => [...clickTexts(found)], refuse(ordinal)) ?? []) : []
      const click = index === undefined ? undefined : clicks[index]
      if (!found || ordinal === undefined || index === undefined || click === undefined) return undefined
      if (account !== undefined && (JSON.parse(click) as { account?: unknown }).account !== account) return undefined
      const hashes = hashLeaves(clicks)
      const event = await leafAt(found, ordinal, hashes)
      const proof = await prove(db, ordinal, event)
      if (!proof) return 'unsigned'
      const path = inclusionRanges(index, hashes.length / hashSize).map(([start, end]) =>
        rootOf(hashes.subarray(start * hashSize, end * hashSize)).toString('base64'),
      )
      return { event, click, proof: { ...proof, click: { index, path } } }
    },
  }
}

const unavailableWithoutKey = (error: unknown): never => {
  throw error instanceof ProofKeyLost ? new Unavailable(error.message) : error
}

/** Returns what reads how far the proof is. */
const openProofState = (ledger: Pick<Ledger, 'db' | 'stored' | 'keys'>): Proofs['state'] => {
  const { db } = ledger
  let key: string | undefined
  return async () => {
    key ??= (await openSigner(ledger).catch(unavailableWithoutKey)).publicKey
    const [events, newest, verified] = await Promise.all([treeSize(db), newestCheckpoint(db), lastVerification(db)])
    const checkpoint = newest && { events: newest.size, note: newest.note, at: newest.signed_at }
    return { key, events, checkpoint, verified }
  }
}

/** Opens receipts, and the state of the proof. */
export const openAllProofs = (ledger: Ledger): Proofs => ({ ...openProofs(ledger), state: openProofState(ledger) })

/** The interval and the maximum number of checks whether the tree has an event. */
const [pause, tries] = [100, 100]

/**
 * Returns the receipt of an event that was just appended, with a checkpoint that is signed for it. Undefined when the
 * tree does not reach it in time: nothing follows the log, or it has much to catch up with.
 */
export const receiptNow = async (ledger: Ledger, position: bigint): Promise<Receipt | undefined> => {
  const { db, ordinals } = ledger
  // a command may run as another user than the service, whose file that is
  const counter = { ...(await openCounter(ledger)), note: async () => {} }
  for (let n = 0; n < tries; n++, await sleep(pause)) {
    const ordinal = (await ordinals.of([position])).get(position)
    const size = await treeSize(db)
    if (ordinal === undefined || size <= ordinal) continue
    await signCheckpoint(db, await openSigner(ledger), size, counter)
    const receipt = await openProofs(ledger).ofEvent(ordinal)
    if (receipt !== undefined && receipt !== 'unsigned') return receipt
  }
  return undefined
}
