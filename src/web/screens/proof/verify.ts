/** A receipt: an event or a click, and the proof that the log has it. docs/proof.md has its format. */
export interface Receipt {
  readonly event: string
  readonly click?: string
  readonly proof: {
    readonly index: number
    readonly path: readonly string[]
    readonly checkpoint: string
    readonly click?: { readonly index: number; readonly path: readonly string[] }
  }
}

/** What was checked about a receipt, in order; the first that fails ends it. */
export type Step = 'signature' | 'event' | 'click'
export interface Verdict {
  readonly passed: readonly Step[]
  readonly failed?: Step
  /** the number of events in the checkpoint */
  readonly size: number
}
/** This browser has no way to check: WebCrypto is off without https, and older ones lack Ed25519. */
export class CannotCheck extends Error {
  override readonly name = 'CannotCheck'
}

type Bytes = Uint8Array<ArrayBuffer>
const utf8 = new TextEncoder()
const fromBase64 = (text: string): Bytes => Uint8Array.from(atob(text), (one) => one.codePointAt(0) ?? 0)
const joined = (...parts: readonly ArrayLike<number>[]): Bytes =>
  Uint8Array.from(parts.flatMap((part) => Array.from(part)))
const equal = (one: Bytes, other: Bytes) => one.length === other.length && one.every((byte, n) => byte === other[n])
const sha256 = async (bytes: Bytes): Promise<Bytes> => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

/** Throws for half a character: in UTF-8, all of them, and U+FFFD, are the same bytes. */
const bytesOfText = (text: string): Bytes => {
  if (!text.isWellFormed()) throw new TypeError('a lone surrogate')
  return utf8.encode(text)
}
const leafHash = (text: string) => sha256(joined([0], bytesOfText(text)))
const nodeHash = (left: Bytes, right: Bytes) => sha256(joined([1], left, right))

/** Returns the root to which a leaf leads through a path (RFC 9162, 2.1.3.2); undefined when the path does not fit. */
const rootOf = async (leaf: Bytes, index: number, size: number, path: readonly Bytes[]) => {
  if (index >= size) return undefined
  let root = leaf
  let [at, last] = [index, size - 1]
  for (const sibling of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      root = await nodeHash(sibling, root)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else root = await nodeHash(root, sibling)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 ? root : undefined
}

interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Bytes
}

const importKey = async (raw: Bytes) => {
  try {
    return await crypto.subtle.importKey('raw', raw, { name: 'Ed25519' }, false, ['verify'])
  } catch {
    throw new CannotCheck()
  }
}

/** Returns what a checkpoint says when a key has signed it; undefined when it has not. */
const signedBy = async (note: string, verifier: string): Promise<Checkpoint | undefined> => {
  const [, name = '', id = '', key = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(verifier) ?? []
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const imported = await importKey(fromBase64(key).slice(1))
  for (const line of note.slice(end + 2).split('\n')) {
    const [, signer, data = ''] = /^— (\S+) (\S+)$/.exec(line) ?? []
    const bytes = fromBase64(data)
    const hex = [...bytes.slice(0, 4)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    if (signer !== name || hex !== id) continue
    const isGood = await crypto.subtle.verify({ name: 'Ed25519' }, imported, bytes.slice(4), bytesOfText(text))
    const [origin = '', size = '', root = ''] = text.split('\n')
    if (isGood && origin === name) return { origin, size: Number(size), root: fromBase64(root) }
  }
  return undefined
}

const bytesOf = (path: readonly string[]) => path.map(fromBase64)

const hasEvent = async ({ event, proof }: Receipt, { size, root }: Checkpoint) => {
  const { ordinal } = JSON.parse(event) as { readonly ordinal?: unknown }
  const found = await rootOf(await leafHash(event), proof.index, size, bytesOf(proof.path))
  return ordinal === proof.index && found !== undefined && equal(found, root)
}

const hasClick = async ({ event, click = '', proof }: Receipt) => {
  const { data } = JSON.parse(event) as {
    readonly data?: { readonly clicks?: { readonly count: number; readonly root: string } }
  }
  if (!proof.click || !data?.clicks) return false
  const { count, root } = data.clicks
  const found = await rootOf(await leafHash(click), proof.click.index, count, bytesOf(proof.click.path))
  return found !== undefined && equal(found, fromBase64(root))
}

/**
 * Checks a receipt in this browser, with the key and nothing else. Throws `CannotCheck`, and any error for what is no
 * receipt.
 */
export const verifyReceipt = async (receipt: Receipt, key: string): Promise<Verdict> => {
  if (!globalThis.crypto?.subtle) throw new CannotCheck()
  const checkpoint = await signedBy(receipt.proof.checkpoint, key)
  if (!checkpoint) return { passed: [], failed: 'signature', size: 0 }
  const { size } = checkpoint
  if (!(await hasEvent(receipt, checkpoint))) return { passed: ['signature'], failed: 'event', size }
  if (receipt.click === undefined) return { passed: ['signature', 'event'], size }
  return (await hasClick(receipt))
    ? { passed: ['signature', 'event', 'click'], size }
    : { passed: ['signature', 'event'], failed: 'click', size }
}
