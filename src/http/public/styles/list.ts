import { css } from './css.ts'

/** Style of pages with a list of links. */
export const listStyle = css(`
.links { list-style: none; margin-block-start: var(--space-5) }
.links li { border-block-end: var(--rule) solid var(--line) }
.links li:first-child { border-block-start: var(--rule) solid var(--line) }
.links a { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: center; column-gap: var(--space-4); min-block-size: 4.25rem; padding-block: var(--space-2); text-decoration: none }
.links a:hover b { text-decoration: underline; text-underline-offset: .2em }
.links b { display: block; font-weight: 600; line-height: 1.35 }
.links small { font-size: var(--size-2); color: var(--ink-2) }
.links a::after { content: ""; inline-size: .5rem; block-size: .5rem; border: solid currentColor; border-width: 2px 2px 0 0; rotate: 45deg; margin-inline-end: .25rem; opacity: .6 }
.pager { display: flex; gap: var(--space-5) }
.pager a { display: inline-flex; align-items: center; min-block-size: 2.75rem }
`)
