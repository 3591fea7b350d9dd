import { contrast } from '../../../qr/color.ts'
import { css } from './css.ts'

/**
 * Returns white or black, whichever is easier to read on a color (`#rrggbb`): the contrast is at least 4.58 on any
 * color.
 */
export const readableOn = (color: string) =>
  contrast(color, '#ffffff') >= contrast(color, '#000000') ? '#ffffff' : '#000000'

/**
 * Returns the style of a page with its owner's color: an edge, and the primary button, which keeps a neutral border
 * because the color may be that of the page. Never text, links, errors or focus. It comes after the base style; the
 * body needs no class.
 */
export const ownerStyle = (color: string) =>
  css(`
body { --owner: ${color}; --go: var(--owner); --on-go: ${readableOn(color)} }
body:not(.framed) { border-block-start: 4px solid var(--owner) }
.button.go { border-color: var(--line-strong) }
.plate { display: block; margin-inline-end: auto; padding: .375rem .625rem; border-radius: var(--radius); background: #fff; border: var(--rule) solid var(--line) }
.plate img { block-size: 1.75rem; inline-size: auto }
`)
