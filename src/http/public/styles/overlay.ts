import { css } from './css.ts'

/**
 * Style of an overlay: over the frame on a wide screen, at the lower edge of a narrow one. Its owner's color comes from
 * `ownerStyle`. `src/web/styles/preview.css` draws it, too.
 */
export const overlayStyle = css(`
.overlay { grid-row: 2; grid-column: 1; z-index: 1; align-self: end; justify-self: start; inline-size: min(100%, 25.5rem); max-block-size: 100%; padding: var(--space-4); pointer-events: none; display: grid }
.overlay.br, .overlay.tr { justify-self: end }
.overlay.tl, .overlay.tr { align-self: start }
.overlay dialog { pointer-events: auto; position: relative; inset: auto; inline-size: 100%; max-inline-size: none; max-block-size: 100%; margin: 0; padding: 0; overflow: auto; border: var(--rule) solid var(--line); border-block-start: 4px solid var(--owner); border-radius: var(--radius-large); background: var(--surface); color: var(--ink); box-shadow: 0 1px 2px #0002, 0 12px 32px #0003; --paper: var(--surface) }
.overlay dialog:not([open]) { display: none }
.overlay summary { display: flex; align-items: center; gap: var(--space-2); min-block-size: 3.5rem; padding: .5rem var(--space-4); padding-inline-end: 6.5rem; list-style: none; cursor: pointer; border-radius: var(--radius-large) }
.overlay summary::-webkit-details-marker { display: none }
.overlay summary::before { content: ""; flex: none; inline-size: .5rem; block-size: .5rem; border: solid var(--ink-2); border-width: 0 2px 2px 0; rotate: -45deg; margin-inline: .125rem .25rem }
.overlay [open] > summary::before { rotate: 45deg }
.overlay summary:focus-visible { outline-offset: -4px; box-shadow: none }
.overlay h2 { min-inline-size: 0 }
.overlay form { margin: 0 }
.overlay .close { position: absolute; inset-block-start: .375rem; inset-inline-end: .375rem }
.overlay .close .button { border-color: transparent; color: var(--ink-2) }
.overlay .body { display: grid; gap: var(--space-3); padding: 0 var(--space-4) var(--space-4) }
.overlay .body form { gap: var(--space-3) }
.overlay .body > p:focus { outline: none }
.overlay .body img { inline-size: 100%; border-radius: var(--radius) }
.overlay input:not([type=radio]) { min-block-size: 2.75rem; padding-block: .4rem }
.overlay textarea { min-block-size: 4.75rem }
.overlay .error { font-size: var(--size-2) }
.coupon { display: flex; align-items: center; gap: var(--space-2); min-block-size: 3.25rem; padding-block: .25rem; padding-inline: var(--space-4) var(--space-1); border: var(--rule) dashed var(--line-strong); border-radius: var(--radius) }
.coupon code { flex: 1; font: 600 1.125rem var(--mono); letter-spacing: .04em; user-select: all }
@media (max-width: 40rem) {
  .overlay, .overlay.tl, .overlay.tr { inline-size: 100%; max-block-size: 80%; padding: 0; align-self: end }
  .overlay dialog { border-radius: var(--radius-large) var(--radius-large) 0 0; border-inline: 0; border-block-end: 0 }
}
@media (forced-colors: active) { .overlay dialog { border: 1px solid ButtonText } }
`)
