import { createHash, generateKeyPairSync, type JsonWebKey, randomBytes, sign } from 'node:crypto'

/** What an authenticator signs that is not as it should be. */
export interface Wrong {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly crossOrigin?: boolean
  /** whether it has asked for a finger, a face or a PIN */
  readonly verified?: boolean
  readonly counter?: number
  readonly userHandle?: string | null
  /** signs with another key */
  readonly forged?: boolean
  /** what vouches for the authenticator */
  readonly attestation?: { readonly fmt: string; readonly attStmt: Map<string, Cbor> }
}

type Cbor = number | string | Buffer | readonly Cbor[] | Map<string | number, Cbor> | Map<string, Cbor>

const head = (major: number, n: number): Buffer => {
  if (n < 24) return Buffer.from([(major << 5) | n])
  if (n < 256) return Buffer.from([(major << 5) | 24, n])
  return Buffer.from([(major << 5) | 25, n >> 8, n & 255])
}
/** Returns a value in CBOR (RFC 8949), as far as authenticators need it. */
const cbor = (value: Cbor): Buffer => {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, one]) => [cbor(key), cbor(one)])])
  const all = value as readonly Cbor[]
  return Buffer.concat([head(4, all.length), ...all.map(cbor)])
}

const sha256 = (of: string | Buffer) => createHash('sha256').update(of).digest()
const bytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64url')

const makers = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
} as const
export type Algorithm = keyof typeof makers

/** Returns a public key in COSE (RFC 9053). */
const coseOf = (algorithm: Algorithm, { x, y, n, e }: JsonWebKey): Buffer => {
  const fields: Readonly<Record<Algorithm, [number, Cbor][]>> = {
    ES256: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    EdDSA: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(x)],
    ],
    RS256: [
      [1, 3],
      [3, -257],
      [-1, bytes(n)],
      [-2, bytes(e)],
    ],
  }
  return cbor(new Map(fields[algorithm]))
}

interface Creation {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
}
interface Request {
  readonly challenge: string
  readonly rpId: string
}

/** Returns a passkey in software: it makes and signs what an authenticator does, also wrong. */
export const newAuthenticator = (origin: string, algorithm: Algorithm = 'ES256') => {
  const { privateKey, publicKey } = makers[algorithm]()
  const id = randomBytes(32).toString('base64url')
  const cose = () => coseOf(algorithm, publicKey.export({ format: 'jwk' }))
  let counter = 0
  let handle = ''
  const clientData = (type: string, challenge: string, wrong: Wrong) =>
    Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: wrong.crossOrigin ?? false,
      }),
    )
  const authenticatorData = (rpId: string, { verified = true, ...wrong }: Wrong, isNew: boolean) => {
    const flags = 1 | (verified ? 4 : 0) | (isNew ? 64 : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(wrong.counter ?? counter)
    return Buffer.concat([sha256(wrong.rpId ?? rpId), Buffer.from([flags]), count])
  }
  const signed = (data: Buffer, forged: boolean) => {
    const key = forged ? makers[algorithm]().privateKey : privateKey
    return sign(algorithm === 'EdDSA' ? null : 'sha256', data, key)
  }
  return {
    id,
    /** Makes it the passkey of an account, as that is known to authenticators. Returns its public key. */
    belongTo: (userHandle: string) => {
      handle = userHandle
      return cose().toString('base64url')
    },
    /** Sets how often it was used. */
    count: (to: number) => void (counter = to),
    create: ({ challenge, rp, user }: Creation, wrong: Wrong = {}) => {
      handle = user.id
      const key = cose()
      const name = bytes(id)
      const size = Buffer.from([0, name.length])
      const data = Buffer.concat([authenticatorData(rp.id, wrong, true), Buffer.alloc(16), size, name, key])
      const { fmt, attStmt } = wrong.attestation ?? { fmt: 'none', attStmt: new Map<string, Cbor>() }
      const all = new Map<string, Cbor>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', data],
      ])
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', challenge, wrong).toString('base64url'),
          attestationObject: cbor(all).toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    get: ({ challenge, rpId }: Request, wrong: Wrong = {}) => {
      counter++
      const client = clientData('webauthn.get', challenge, wrong)
      const data = authenticatorData(rpId, wrong, false)
      const { userHandle = handle, forged = false } = wrong
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        authenticatorAttachment: 'platform',
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signed(Buffer.concat([data, sha256(client)]), forged).toString('base64url'),
          userHandle,
        },
      }
    },
  }
}
export type Authenticator = ReturnType<typeof newAuthenticator>
