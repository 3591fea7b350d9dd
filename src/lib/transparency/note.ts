import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** A text with signatures (C2SP signed-note). */
export interface Note {
  /** ends with a line break */
  readonly text: string
  readonly signatures: readonly { readonly name: string; readonly id: Buffer; readonly signature: Buffer }[]
}

/** Signs notes under a name. `publicKey` is what verifies them: `<name>+<id>+<key>`. */
export interface Signer {
  readonly name: string
  readonly publicKey: string
  readonly sign: (text: string) => string
}

const ed25519 = 1
// what precedes the 32 bytes of a key in DER
const privatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex')

const privateKey = (seed: Buffer) =>
  createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: 'der', type: 'pkcs8' })
const publicKeyOf = (raw: Buffer) =>
  createPublicKey({ key: Buffer.concat([publicPrefix, raw]), format: 'der', type: 'spki' })
const rawOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).subarray(publicPrefix.length)

/** Returns the first four bytes of the hash of a name and its key, by which a signature names its key. */
const idOf = (name: string, key: Buffer) =>
  createHash('sha256')
    .update(Buffer.concat([Buffer.from(`${name}\n`), key]))
    .digest()
    .subarray(0, 4)

/** Returns what signs notes with an Ed25519 key, given its 32 secret bytes. */
export const createSigner = (name: string, seed: Buffer): Signer => {
  const secret = privateKey(seed)
  const key = Buffer.concat([Buffer.of(ed25519), rawOf(createPublicKey(secret))])
  const id = idOf(name, key)
  return {
    name,
    publicKey: `${name}+${id.toString('hex')}+${key.toString('base64')}`,
    sign: (text) => {
      const signature = Buffer.concat([id, sign(null, Buffer.from(text), secret)])
      return `${text}\n— ${name} ${signature.toString('base64')}\n`
    },
  }
}

/** A public key as `publicKey` of a signer writes it. */
export interface Verifier {
  readonly name: string
  /** Whether the note has a valid signature of this key. */
  readonly verifies: (note: Note) => boolean
}

/** Returns what verifies notes, undefined when the text is not a public key of a kind that is known. */
export const parseVerifier = (text: string): Verifier | undefined => {
  const [, name = '', hex = '', base64 = ''] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text.trim()) ?? []
  const key = Buffer.from(base64, 'base64')
  const id = idOf(name, key)
  if (key.length !== 33 || key[0] !== ed25519 || id.toString('hex') !== hex) return undefined
  const raw = publicKeyOf(key.subarray(1))
  return {
    name,
    verifies: (note) => {
      const ours = note.signatures.filter((one) => one.name === name && one.id.equals(id))
      return ours.length > 0 && ours.every(({ signature }) => verify(null, Buffer.from(note.text), raw, signature))
    },
  }
}

const line = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/

/** Returns the text and the signatures of a note, undefined when it is none. */
export const parseNote = (note: string): Note | undefined => {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) return undefined
  const signatures = note
    .slice(end + 2, -1)
    .split('\n')
    .map((one) => line.exec(one))
  if (signatures.some((found) => found === null)) return undefined
  return {
    text: note.slice(0, end + 1),
    signatures: signatures.map((found) => {
      const bytes = Buffer.from(found?.[2] ?? '', 'base64')
      return { name: found?.[1] ?? '', id: bytes.subarray(0, 4), signature: bytes.subarray(4) }
    }),
  }
}

/** What a checkpoint says about a log (C2SP tlog-checkpoint). */
export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Buffer
}

export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`

/** Returns what the text of a note says as a checkpoint, undefined when it is none. Further lines are left out. */
export const parseCheckpoint = (text: string): Checkpoint | undefined => {
  const [origin = '', size = '', base64 = ''] = text.split('\n')
  const root = Buffer.from(base64, 'base64')
  if (origin === '' || !/^(0|[1-9]\d{0,15})$/.test(size) || root.length !== 32) return undefined
  return { origin, size: Number(size), root }
}
