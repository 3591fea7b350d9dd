import { create } from 'qrcode'

/** The modules of a QR code (ISO/IEC 18004), without the quiet zone. */
export interface Code {
  /** modules per side */
  readonly size: number
  readonly dark: (x: number, y: number) => boolean
  /** the square in the middle that is kept free for a logo, including a margin of one module */
  readonly free: { readonly from: number; readonly size: number } | undefined
}

/** Width of the quiet zone around a code, in modules. */
export const quietZone = 4

/** In a smaller code a logo would cover more codewords than error correction can restore. */
const minVersionWithLogo = 5
/**
 * Side of the free square relative to the code's side: it covers about 10 % of the codewords, and level H restores 30
 * %.
 */
const freeShare = 0.26

/** Returns a square with an odd number of modules per side, so that it can be centered. */
const freeSquare = (size: number) => {
  const side = 2 * Math.floor((size * freeShare - 1) / 2) + 1
  return { from: (size - side) / 2, size: side }
}

/** Returns the QR code of a text. Throws when the text has more than 1,273 bytes with a logo, or 2,331 without. */
export const codeOf = (text: string, withLogo: boolean): Code => {
  const level = { errorCorrectionLevel: withLogo ? 'H' : 'M' } as const
  const small = create(text, level)
  const { modules } =
    withLogo && small.version < minVersionWithLogo ? create(text, { ...level, version: minVersionWithLogo }) : small
  const free = withLogo ? freeSquare(modules.size) : undefined
  const covered = (n: number) => free !== undefined && n >= free.from && n < free.from + free.size
  return {
    size: modules.size,
    dark: (x, y) => modules.get(y, x) === 1 && !(covered(x) && covered(y)),
    free,
  }
}
