import { type Inline, inline } from '../page/csp.ts'

/** Returns a style without comments and needless spaces. */
export const css = (text: string): Inline =>
  inline(
    text
      .replaceAll(/\/\*.*?\*\//gs, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/ ?([{};,]) ?/g, '$1')
      .replaceAll(': ', ':')
      .replaceAll(';}', '}')
      .trim(),
  )
