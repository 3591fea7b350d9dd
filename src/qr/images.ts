import { createHash } from 'node:crypto'
import { problem, type Problem } from '../lib/problems/problem.ts'
import type { Drawing } from './draw.ts'
import { pictureProblem } from './picture.ts'
import { openPool, type Pool, WorkerLost } from './pool.ts'

/** A logo as it is stored (PNG, base64), or what is wrong with the picture. */
export type Logo = { readonly ok: true; readonly png: string } | { readonly ok: false; readonly problem: Problem }

/** The logo that a drawing names cannot be found. */
export class LogoMissing extends Error {
  override readonly name = 'LogoMissing'
}
/** Returns the logo (PNG) that a drawing names by its key. */
export type FindLogo = () => Promise<Buffer | undefined>

export interface Images {
  /**
   * Returns the image. Those who ask for images (`source`) take turns. Throws `Busy`, and `LogoMissing` when the
   * drawing names a logo that `findLogo` does not find.
   */
  readonly draw: (drawing: Drawing, findLogo?: FindLogo, source?: string) => Promise<Buffer>
  /** Whether the image needs no drawing, because it is cached or being drawn. */
  readonly has: (drawing: Drawing) => boolean
  /** Decodes a picture. Accounts (`source`) take turns. Throws `Busy`. */
  readonly logo: (bytes: Buffer, source?: string) => Promise<Logo>
  readonly close: () => Promise<void>
}

/** Raise it when the same drawing results in a different image, so that HTTP caches fetch the new one. */
const version = 1

/** Returns a key that two drawings share only if their images are equal. */
export const drawingKey = (drawing: Drawing): string =>
  createHash('sha256')
    .update(JSON.stringify([version, drawing]))
    .digest('base64url')
    .slice(0, 32)

/** A cache of the most recently used images, with at most `maxBytes` in total. */
const imageCache = (maxBytes: number) => {
  const images = new Map<string, Buffer>()
  let bytes = 0
  const forget = (key: string) => {
    bytes -= images.get(key)?.length ?? 0
    images.delete(key)
  }
  const keep = (key: string, image: Buffer) => {
    forget(key)
    images.set(key, image)
    bytes += image.length
    for (const oldest of images.keys()) if (bytes > maxBytes) forget(oldest)
  }
  return {
    has: (key: string) => images.has(key),
    get: (key: string) => {
      const image = images.get(key)
      if (image) keep(key, image)
      return image
    },
    keep,
  }
}

/**
 * Makes the images of QR codes in worker threads. Uploaded pictures are decoded by a worker of their own, so that no
 * drawing waits for one.
 */
export const openImages = (
  drawers: Pool = openPool({ size: 2, timeoutMs: 5000, perSource: 100 }),
  decoders: Pool = openPool({ size: 1, timeoutMs: 2000, queue: 20, perSource: 3 }),
): Images => {
  const cache = imageCache(32 * 1024 * 1024)
  const inProgress = new Map<string, Promise<Buffer>>()

  const withLogo = async ({ logoKey, ...drawing }: Drawing, findLogo: FindLogo | undefined): Promise<Drawing> => {
    if (logoKey === undefined) return drawing
    const logo = await findLogo?.()
    if (!logo) throw new LogoMissing(`the logo ${logoKey} is missing`)
    return { ...drawing, logo: logo.toString('base64') }
  }
  const make = async (key: string, named: Drawing, findLogo: FindLogo | undefined, source: string | undefined) => {
    const drawing = await withLogo(named, findLogo)
    const done = await drawers.run({ type: 'draw', drawing }, source)
    if (!('bytes' in done)) throw new Error(`drawing a QR code failed: ${'failure' in done ? done.failure : ''}`)
    const image = Buffer.from(done.bytes)
    cache.keep(key, image)
    return image
  }

  return {
    has: (drawing) => {
      const key = drawingKey(drawing)
      return cache.has(key) || inProgress.has(key)
    },
    draw: async (drawing, findLogo, source) => {
      const key = drawingKey(drawing)
      const known = cache.get(key)
      if (known) return known
      const making = inProgress.get(key) ?? make(key, drawing, findLogo, source).finally(() => inProgress.delete(key))
      inProgress.set(key, making)
      return making
    },
    logo: async (bytes, source) => {
      const wrong = pictureProblem(bytes)
      if (wrong) return { ok: false, problem: wrong }
      try {
        const done = await decoders.run({ type: 'logo', bytes }, source)
        if ('failure' in done) return { ok: false, problem: problem('bad_picture') }
        return 'problem' in done
          ? { ok: false, problem: done.problem }
          : { ok: true, png: Buffer.from(done.bytes).toString('base64') }
      } catch (error) {
        if (error instanceof WorkerLost) return { ok: false, problem: problem('bad_picture', { what: 'costly' }) }
        throw error
      }
    },
    close: async () => void (await Promise.all([drawers.close(), decoders.close()])),
  }
}
