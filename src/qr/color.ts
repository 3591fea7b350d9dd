/** Red, green and blue of `#rrggbb`, 0 to 255. */
export const rgb = (colour: string): number[] => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))

/** Relative luminance, 0 to 1: WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
const luminance = (colour: string) => {
  const [r = 0, g = 0, b = 0] = rgb(colour)
    .map((n) => n / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** Contrast ratio of WCAG, 1 (none) to 21 (black on white). */
export const contrast = (one: string, other: string): number => {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}
