import { useEffect, useState } from 'preact/hooks'
import type { Code } from '../../qr/code.ts'
import { Skeleton } from './states.tsx'

/** What a code looks like. */
export interface Look {
  readonly text: string
  /** `#rrggbb` */
  readonly foreground: string
  readonly background: string
  /** address of a picture for the middle */
  readonly logo?: string | undefined
}

/** modules around a code that stay empty, so that scanners find it */
const quiet = 4

/** Returns the dark modules as one path. */
const pathOf = ({ size, dark }: Code): string => {
  const parts: string[] = []
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const start = x
      while (x < size && dark(x, y)) x++
      if (x > start) parts.push(`M${start + quiet} ${y + quiet}h${x - start}v1h${start - x}z`)
    }
  return parts.join('')
}

/**
 * Returns the code of a text, as the service draws it; undefined while it is not made, or when the text is too long.
 */
export const useCode = (text: string, withLogo: boolean): Code | undefined => {
  const [code, setCode] = useState<Code | undefined>(undefined)
  useEffect(() => {
    let gone = false
    void import('../../qr/code.ts').then(
      ({ codeOf }) => {
        if (gone) return
        try {
          setCode(() => codeOf(text, withLogo))
        } catch {
          setCode(undefined)
        }
      },
      () => {},
    )
    return () => {
      gone = true
    }
  }, [text, withLogo])
  return code
}

/** A drawing of a code. */
export const CodeImage = ({
  code,
  look,
  label,
}: {
  readonly code: Code
  readonly look: Look
  readonly label: string
}) => {
  const side = code.size + 2 * quiet
  const { free } = code
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${side} ${side}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <path fill={look.background} d={`M0 0h${side}v${side}H0z`} />
      <path fill={look.foreground} d={pathOf(code)} />
      {free && look.logo !== undefined && (
        <image
          x={free.from + quiet + 1}
          y={free.from + quiet + 1}
          width={free.size - 2}
          height={free.size - 2}
          href={look.logo}
        />
      )}
    </svg>
  )
}

/** The code of a text in black and white. */
export const QrImage = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const code = useCode(text, false)
  if (!code) return <Skeleton rows={1} label={label} />
  return <CodeImage code={code} look={{ text, foreground: '#000000', background: '#ffffff' }} label={label} />
}

/** Draws a code into a canvas of about this size, each module a whole number of pixels. */
export const drawCode = async (code: Code, look: Look, size: number): Promise<HTMLCanvasElement> => {
  const modules = code.size + 2 * quiet
  const scale = Math.max(1, Math.round(size / modules))
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = modules * scale
  const context = canvas.getContext('2d')
  if (!context) return canvas
  context.fillStyle = look.background
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = look.foreground
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++)
      if (code.dark(x, y)) context.fillRect((x + quiet) * scale, (y + quiet) * scale, scale, scale)
  if (code.free && look.logo !== undefined) {
    const image = new Image()
    image.src = look.logo
    await image.decode().catch(() => {})
    const at = (code.free.from + quiet + 1) * scale
    const side = (code.free.size - 2) * scale
    const fit = Math.min(side / (image.naturalWidth || 1), side / (image.naturalHeight || 1))
    const [width, height] = [image.naturalWidth * fit, image.naturalHeight * fit]
    if (width > 0) context.drawImage(image, at + (side - width) / 2, at + (side - height) / 2, width, height)
  }
  return canvas
}
