import { css } from './css.ts'

/** Style of splash pages. The dashboard's editors draw it, too: `src/web/styles/preview.css`. */
export const splashStyle = css(`
.main { padding-block-start: var(--space-5) }
.plate { display: grid; align-items: center; inline-size: 10rem; block-size: 2.625rem; margin-inline-end: auto; padding: .375rem .625rem; border-radius: var(--radius); background: #fff; border: var(--rule) solid var(--line) }
/* without width and height, so that a broken picture shows nothing; the boxes around them have their sizes */
.plate img { inline-size: auto; block-size: auto; max-block-size: 1.75rem }
.banner { display: block; position: relative; aspect-ratio: 3 / 1; overflow: hidden; border-radius: var(--radius-large); background: var(--sunken) }
.banner img { position: absolute; inset: 0; min-inline-size: 100%; min-block-size: 100%; max-inline-size: 100%; max-block-size: 100%; object-fit: cover }
.banner + h1 { margin-block-start: var(--space-5) }
.where { margin-block-start: var(--space-5) }
.where > span { display: inline; color: var(--ink) }
.countdown { margin-block-start: var(--space-1) }
`)
