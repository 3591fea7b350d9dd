import { z } from 'zod'
import type { Entry, NumberedEntry } from '../../lib/chain.ts'
import { damaged } from '../../lib/chain.ts'
import type { ReadableFile } from '../../lib/streamfile.ts'
import type { Database } from '../../postgres/database.ts'
import { resourceKinds } from '../../events/kinds.ts'
import { readImages, type StoredImage } from '../../postgres/images.ts'
import { readState, type State } from '../../postgres/state.ts'
import { Erasure, readErasures, registerIn } from '../../security/erasures.ts'
import { entriesOf } from '../../store/archive.ts'

const Time = z.iso.datetime()
/** What a backup has of the schema `state` and of DATA_DIR, by the kind of the entry. Images have one of their own. */
const schemas = {
  key: z.object({ name: z.string(), wrapped: z.string(), made_at: Time }),
  destroyedKey: z.object({ name: z.string(), destroyed_at: Time }),
  sequence: z.object({ kind: z.enum(resourceKinds), last: z.int() }),
  domainCheck: z.object({ domain: z.int(), checked_at: Time, failures: z.int() }),
  webhook: z.object({
    ...{ webhook: z.int(), account: z.int(), starts: z.int(), next: z.int(), part: z.int() },
    // missing in backups of older releases
    ...{ until: z.int().nullish(), back: z.int().nullish(), back_part: z.int().nullish() },
  }),
  // without their numbers: counting begins again after a restore
  checkpoint: z.object({ size: z.int(), note: z.string(), signed_at: Time }),
  erasure: Erasure,
}
const Image = z.object({ account: z.int(), hash: z.string(), sealed: z.base64() })

const entriesFor = (kind: keyof typeof schemas, values: readonly object[]) =>
  values.map((value): Entry => [kind, value])

/**
 * The entries of everything that belongs to a log and is not in it. Read it after the log: what an event needs is
 * stored before the event. The register of erasures is read last, because an erasure is noted there before the key is
 * destroyed.
 */
export const stateEntries = async function* (db: Database, dataDir: string): AsyncGenerator<readonly Entry[]> {
  const { keys, destroyed, sequences, checks, checkpoints, webhooks } = await readState(db)
  yield entriesFor('key', keys)
  yield entriesFor('destroyedKey', destroyed)
  yield entriesFor('sequence', sequences)
  yield entriesFor('domainCheck', checks)
  yield entriesFor('checkpoint', checkpoints)
  yield entriesFor('webhook', webhooks)
  yield entriesFor('erasure', await readErasures(registerIn(dataDir)))
  for await (const images of readImages(db))
    yield images.map(({ sealed, ...image }): Entry => ['image', { ...image, sealed: sealed.toString('base64') }])
}

/** What `stateEntries` wrote, without the images. */
export interface Restored extends State {
  readonly erasures: readonly Erasure[]
}

/** Returns `add`, which takes the entries of a backup one by one, and `restored`, which returns what they were. */
export const collectState = ({ name }: ReadableFile) => {
  const found = {
    key: [],
    destroyedKey: [],
    sequence: [],
    domainCheck: [],
    webhook: [],
    checkpoint: [],
    erasure: [],
  } as {
    readonly [K in keyof typeof schemas]: z.output<(typeof schemas)[K]>[]
  }
  const isKind = (kind: string): kind is keyof typeof schemas => Object.hasOwn(schemas, kind)
  return {
    add: ({ line, kind, value }: NumberedEntry): void => {
      if (!isKind(kind)) throw damaged(name, line, `\`${kind}\` is of no known kind`)
      const { data, error } = schemas[kind].safeParse(value)
      if (error) throw damaged(name, line, `it has no valid \`${kind}\``, error)
      ;(found[kind] as unknown[]).push(data)
    },
    restored: (): Restored => ({
      keys: found.key,
      destroyed: found.destroyedKey,
      sequences: found.sequence,
      checks: found.domainCheck,
      checkpoints: found.checkpoint,
      webhooks: found.webhook,
      erasures: found.erasure,
    }),
  }
}

/** The images of a backup, in small pages. */
export const imagesIn = async function* (file: ReadableFile): AsyncGenerator<readonly StoredImage[]> {
  for await (const entries of entriesOf(file)) {
    const images = entries.filter(({ kind }) => kind === 'image').map(({ value }) => Image.parse(value))
    if (images.length > 0)
      yield images.map(({ sealed, ...image }) => ({ ...image, sealed: Buffer.from(sealed, 'base64') }))
  }
}
