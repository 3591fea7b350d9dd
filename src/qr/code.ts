import { create } from 'qrcode'

/** A QR code as modules (ISO/IEC 18004), without its quiet zone. */
export interface Code {
  /** modules a side */
  readonly size: number
  readonly dark: (x: number, y: number) => boolean
  /** the square in the middle that is left free for a logo, a module of quiet around it included */
  readonly free: { readonly from: number; readonly size: number } | undefined
}

/** Light modules around a code. */
export const quiet = 4

/** So many codewords are lost under a logo that a smaller code could not be read. */
const smallestWithLogo = 5
/** Of the side. Level H restores 30 % of the codewords, and this takes about 10 %. */
const share = 0.26

/** An odd number of modules, so that it lies in the middle. */
const freeSquare = (size: number) => {
  const side = 2 * Math.floor((size * share - 1) / 2) + 1
  return { from: (size - side) / 2, size: side }
}

/** Throws when the text comes to more than 1,273 bytes. */
export const codeOf = (text: string, withLogo: boolean): Code => {
  const level = { errorCorrectionLevel: withLogo ? 'H' : 'M' } as const
  const small = create(text, level)
  const { modules } =
    withLogo && small.version < smallestWithLogo ? create(text, { ...level, version: smallestWithLogo }) : small
  const free = withLogo ? freeSquare(modules.size) : undefined
  const covered = (n: number) => free !== undefined && n >= free.from && n < free.from + free.size
  return {
    size: modules.size,
    dark: (x, y) => modules.get(y, x) === 1 && !(covered(x) && covered(y)),
    free,
  }
}
