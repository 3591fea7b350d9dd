import { css } from './css.ts'

/** Style of pages with a form. */
export const formStyle = css(`
form { display: grid; gap: var(--space-4); margin-block-start: var(--space-5) }
form .actions { margin: 0 }
.field { display: grid; gap: var(--space-1); justify-items: start; min-inline-size: 0 }
label, legend { font-weight: 600 }
legend { padding: 0; margin-block-end: var(--space-1) }
.field > .small { font-weight: 400 }
input, textarea { inline-size: 100%; min-block-size: 3rem; padding: .625rem .75rem; border: var(--rule) solid var(--line-strong); border-radius: var(--radius); background: var(--surface); color: var(--ink); font: inherit }
textarea { min-block-size: 6rem; resize: vertical }
input:read-only { background: var(--sunken); font-family: var(--mono); font-size: .9375rem }
.with-button { display: flex; gap: var(--space-2); inline-size: 100% }
.with-button input { min-inline-size: 0; flex: 1 }
.error { color: var(--danger); font-weight: 600 }
[aria-invalid=true] { border-color: var(--danger); box-shadow: inset 0 0 0 1px var(--danger) }
[aria-invalid=true]:focus-visible { box-shadow: inset 0 0 0 1px var(--danger), 0 0 0 2px var(--paper) }
fieldset { border: 0; min-inline-size: 0 }
.option { display: flex; align-items: start; gap: var(--space-3); min-block-size: 2.75rem; padding-block: .5625rem; font-weight: 400; cursor: pointer }
.option + .option { border-block-start: var(--rule) solid var(--line) }
.option input { flex: none; inline-size: 1.25rem; min-block-size: 1.25rem; block-size: 1.25rem; margin: .15rem 0 0; padding: 0; accent-color: var(--accent) }
.option small { display: block; font-size: var(--size-2); color: var(--ink-2) }
.notice { padding: var(--space-3) var(--space-4); border-radius: var(--radius); background: var(--danger-soft); color: var(--danger); font-weight: 600 }
.key { font-family: var(--mono); overflow-wrap: anywhere; user-select: all }
.trap { position: absolute; inset-inline-start: -99rem }
`)
