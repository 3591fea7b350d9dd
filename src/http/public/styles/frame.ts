import { css } from './css.ts'

/** Style of pages that use the whole window: a bar, and the framed destination below it. */
export const frameStyle = css(`
.framed { block-size: 100vh; block-size: 100dvh; min-block-size: 0; grid-template-rows: auto minmax(0, 1fr) }
.bar { display: flex; align-items: center; gap: var(--space-2); min-block-size: 3.25rem; padding-block: .25rem; padding-inline: var(--space-4) var(--space-2); background: var(--surface); border-block-end: var(--rule) solid var(--line); font-size: var(--size-2); line-height: 1.3 }
.bar div { flex: 1; min-inline-size: 0; display: flex; flex-wrap: wrap; align-items: baseline; column-gap: var(--space-3) }
.bar h1 { font-size: var(--size-3); letter-spacing: 0; font-weight: 500; color: var(--ink-2) }
.bar h1 b { font-weight: 650; color: var(--ink) }
.bar p { color: var(--ink-2) }
.bar > a:not(.button) { display: inline-flex; align-items: center; min-block-size: 2.75rem; padding-inline: var(--space-3); color: var(--ink-2) }
.bar .narrow { display: none }
.stage { position: relative; grid-row: 2; grid-column: 1; min-block-size: 0 }
iframe { display: block; inline-size: 100%; block-size: 100%; border: 0; background: #fff }
.hint { display: grid; place-content: center; justify-items: center; gap: var(--space-4); block-size: 100%; padding: var(--space-4); text-align: center }
@media (max-width: 40rem) {
  .bar { padding-inline-start: var(--space-3) }
  .bar p, .bar .wide { display: none }
  .bar > a:not(.button) { padding-inline: var(--space-2) }
  .bar .narrow { display: inline }
  .bar h1 { font-size: var(--size-2) }
}
/* what is said about measurement: a line of its own, on phones too */
.bar:has(.measure:not([hidden])) { flex-wrap: wrap }
.measure { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-2) var(--space-4); flex: 1 0 100%; padding-block-end: var(--space-2) }
.bar .measure p { display: block; flex: 1 1 16rem }
.bar .measure .actions { display: flex; flex: 0 1 auto; gap: var(--space-2); margin: 0 }
`)
