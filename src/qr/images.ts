import { createHash } from 'node:crypto'
import type { Drawing } from './draw.ts'
import { pictureProblem } from './picture.ts'
import { openPool, type Pool, Unanswered } from './pool.ts'

/** A logo as it is kept (PNG, base64), or what is wrong with the picture (to follow the field's name). */
export type Logo = { readonly ok: true; readonly png: string } | { readonly ok: false; readonly problem: string }

export interface Images {
  /** Throws `Busy`. */
  readonly draw: (drawing: Drawing) => Promise<Buffer>
  /** Throws `Busy`. */
  readonly logo: (bytes: Buffer) => Promise<Logo>
  readonly close: () => Promise<void>
}

/** Goes up when the same drawing gives another image. */
const version = 1

/** The same for the same image, and for no other. */
export const drawingKey = (drawing: Drawing): string =>
  createHash('sha256')
    .update(JSON.stringify([version, drawing]))
    .digest('base64url')
    .slice(0, 32)

/** Images by what they show, those last asked for, of at most so many bytes together. */
const remembered = (most: number) => {
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
    for (const oldest of images.keys()) if (bytes > most) forget(oldest)
  }
  return {
    get: (key: string) => {
      const image = images.get(key)
      if (image) keep(key, image)
      return image
    },
    keep,
  }
}

/** Makes the images of QR codes, away from the event loop. Strangers' pictures have a worker of their own: no drawing waits for one. */
export const openImages = (
  drawers: Pool = openPool({ size: 2, patience: 5000 }),
  decoders: Pool = openPool({ size: 1, patience: 2000, queue: 20 }),
): Images => {
  const cache = remembered(32 * 1024 * 1024)
  const drawing = new Map<string, Promise<Buffer>>()

  const make = async (key: string, what: Drawing) => {
    const done = await drawers.run({ type: 'draw', drawing: what })
    if ('problem' in done) throw new Error(`a QR code could not be drawn: ${done.problem}`)
    const image = Buffer.from(done.bytes)
    cache.keep(key, image)
    return image
  }

  return {
    draw: async (what) => {
      const key = drawingKey(what)
      const known = cache.get(key)
      if (known) return known
      const under = drawing.get(key) ?? make(key, what).finally(() => drawing.delete(key))
      drawing.set(key, under)
      return under
    },
    logo: async (bytes) => {
      const problem = pictureProblem(bytes)
      if (problem !== undefined) return { ok: false, problem }
      try {
        const done = await decoders.run({ type: 'logo', bytes })
        return 'problem' in done
          ? { ok: false, problem: done.problem }
          : { ok: true, png: Buffer.from(done.bytes).toString('base64') }
      } catch (error) {
        if (error instanceof Unanswered) return { ok: false, problem: 'takes too long or too much memory to read' }
        throw error
      }
    },
    close: async () => void (await Promise.all([drawers.close(), decoders.close()])),
  }
}
