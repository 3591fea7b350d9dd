import { css } from './css.ts'

/** Style of a countdown. */
export const countdownStyle = css(`
.countdown { display: grid; gap: var(--space-2); margin-block-start: var(--space-5) }
.countdown b { font-variant-numeric: tabular-nums }
progress { appearance: none; display: block; inline-size: 100%; block-size: .375rem; border: 0; border-radius: 1rem; background: var(--line); overflow: hidden; color: var(--accent) }
progress::-webkit-progress-bar { background: var(--line) }
progress::-webkit-progress-value { background: var(--accent); border-radius: 1rem; transition: inline-size 1s linear }
progress::-moz-progress-bar { background: var(--accent) }
@media (forced-colors: active) { progress::-webkit-progress-value { background: Highlight } }
`)
