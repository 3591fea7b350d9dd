import { useEffect, useState } from 'preact/hooks'
import type { Code } from '../../../qr/code.ts'
import { drawCode, type Look } from '../../parts/qrimage.tsx'

/** How often a code was read, of so many times. */
export interface Scans {
  readonly read: number
  readonly of: number
}

/** What cameras make of a code: its size in pixels, how blurred it is, and how far it is turned. */
const tries = [
  { size: 420, blur: 0, turn: 0 },
  { size: 280, blur: 0, turn: 0 },
  { size: 180, blur: 0, turn: 0 },
  { size: 420, blur: 1.5, turn: 0 },
  { size: 280, blur: 1, turn: 0 },
  { size: 420, blur: 0, turn: 7 },
  { size: 420, blur: 0, turn: -15 },
  { size: 420, blur: 1, turn: 30 },
  { size: 280, blur: 0, turn: 90 },
  { size: 320, blur: 0.5, turn: 180 },
] as const

type Try = (typeof tries)[number]

/** Photographs a code, in a way. */
const photograph = async (code: Code, look: Look, { size, blur, turn }: Try) => {
  const drawn = await drawCode(code, look, size)
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = Math.ceil(drawn.width * 1.5)
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) return undefined
  context.fillStyle = '#ffffff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.filter = blur > 0 ? `blur(${blur}px)` : 'none'
  context.translate(canvas.width / 2, canvas.height / 2)
  context.rotate((turn * Math.PI) / 180)
  context.drawImage(drawn, -drawn.width / 2, -drawn.height / 2)
  return context.getImageData(0, 0, canvas.width, canvas.height)
}

/** Reads a code back as a phone would. */
const scan = async (code: Code, look: Look, isGone: () => boolean): Promise<Scans> => {
  const { default: library } = await import('jsqr')
  const read = library.default
  let found = 0
  for (const one of tries) {
    if (isGone()) break
    const picture = await photograph(code, look, one)
    if (picture && read(picture.data, picture.width, picture.height)?.data === look.text) found++
    // the page stays usable meanwhile
    await new Promise((done) => setTimeout(done))
  }
  return { read: found, of: tries.length }
}

/** ms without a change until a code is read */
const pause = 400

/** Returns how often a design can be read, a moment after it has changed; undefined while it is tried. */
export const useScans = (code: Code | undefined, look: Look): Scans | undefined => {
  const [scans, setScans] = useState<Scans | undefined>(undefined)
  const { text, foreground, background, logo } = look
  useEffect(() => {
    setScans(undefined)
    if (!code) return undefined
    let gone = false
    const timer = setTimeout(() => {
      void scan(code, look, () => gone).then((found) => gone || setScans(found))
    }, pause)
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [code, text, foreground, background, logo])
  return scans
}
