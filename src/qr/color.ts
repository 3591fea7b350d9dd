/** Returns red, green and blue of `#rrggbb`, each from 0 to 255. */
export const rgb = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

/** Returns the relative luminance, from 0 to 1: WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
export const luminance = (color: string): number => {
  const [r = 0, g = 0, b = 0] = rgb(color)
    .map((n) => n / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** Returns the contrast ratio as WCAG defines it, from 1 (same color) to 21 (black on white). */
export const contrast = (one: string, other: string): number => {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}
