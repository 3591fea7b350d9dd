import { css } from './css.ts'

/** Style of bio pages. */
export const bioStyle = css(`
.bio { text-align: center }
.bio img { inline-size: 6rem; block-size: 6rem; margin: 0 auto var(--space-4); border-radius: 50%; object-fit: cover; background: var(--sunken) }
.bio p { white-space: pre-line }
.bio ul { list-style: none; margin-block-start: var(--space-5) }
.bio li { margin-block-start: var(--space-3) }
.bio li a { display: block; padding: .85rem 1rem; border: var(--rule) solid var(--line-strong); border-radius: var(--radius-large); background: var(--surface); font-weight: 600; text-decoration: none }
`)
