import { css } from './css.ts'

/** Style of splash pages. */
export const splashStyle = css(`
.splash { text-align: center }
.splash img { max-inline-size: 100%; margin: 0 auto var(--space-5); border-radius: var(--radius) }
.splash .logo { max-block-size: 4.5rem }
.splash .banner { inline-size: 100%; max-block-size: 16rem; object-fit: cover; border-radius: var(--radius-large) }
.splash p { white-space: pre-line; text-wrap: balance }
.splash .actions { justify-content: center }
`)
