import { css } from './css.ts'
import { readableOn } from './owner.ts'

const ctaStyle = `
.cta { position: absolute; z-index: 1; inline-size: min(22rem, calc(100% - 1.5rem)); max-block-size: calc(100% - 1.5rem); overflow: auto; background: var(--surface); border: 1px solid var(--line); border-block-start: .3rem solid var(--own); border-radius: var(--radius-large); box-shadow: 0 .5rem 2rem #0005; padding: 0 1.1rem 1.1rem }
.cta:not([open]) { inline-size: auto; padding-block-end: 0 }
.bl, .br { inset-block-end: .75rem }
.tl, .tr { inset-block-start: .75rem }
.bl, .tl { left: .75rem }
.br, .tr { right: .75rem }
.cta summary { display: flex; justify-content: space-between; gap: 1rem; padding: .6rem 0; cursor: pointer; list-style: none; font-size: var(--size-2); color: var(--ink-2) }
.cta summary::-webkit-details-marker { display: none }
.cta summary::after { content: "\\2715" }
.cta:not([open]) summary::after { content: "\\2197" }
.cta p, .cta legend { white-space: pre-line }
.cta img { max-block-size: 45vh; margin: 0 auto; border-radius: var(--radius) }
.cta form { margin-block-start: .75rem; gap: .5rem }
.cta fieldset { display: grid; gap: .4rem }
.cta fieldset label { display: flex; gap: .6rem; align-items: baseline; font-weight: 400; padding: .3rem 0 }
.cta input[type=radio] { inline-size: auto; flex: none; min-block-size: 0 }
.cta code { display: block; margin-block-start: .75rem; padding: .7rem; border: 2px dashed var(--own); border-radius: var(--radius); font: 600 1.2rem var(--mono); text-align: center; user-select: all }
.cta .button { inline-size: 100%; background: var(--own); color: var(--on) }
.cta p + .button { margin-block-start: .9rem }`

/** Returns the style of an overlay in its owner's color (`#rrggbb`), with text that is readable on it. */
export const overlayStyle = (color: string) => css(`:root { --own: ${color}; --on: ${readableOn(color)} }${ctaStyle}`)
