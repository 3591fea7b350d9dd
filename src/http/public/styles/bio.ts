import type { BioTheme } from '../../../events/pages/bio.ts'
import type { Inline } from '../page/csp.ts'
import { css } from './css.ts'
import { readableOn } from './owner.ts'

const layout = `
.main { padding-block-start: clamp(2rem, 7vh, 4.5rem) }
.person { display: flex; align-items: center; gap: var(--space-4) }
.avatar { position: relative; flex: none; display: grid; place-items: center; inline-size: 5.5rem; aspect-ratio: 1; border-radius: 50%; overflow: hidden; background: var(--sunken); border: var(--rule) solid var(--line); font-size: var(--size-5); font-weight: 600; color: var(--ink-2) }
/* the picture lies over the initials; it has no width or height, so a broken one shows nothing */
.avatar img { position: absolute; inset: 0; min-inline-size: 100%; min-block-size: 100%; max-inline-size: 100%; max-block-size: 100%; object-fit: cover }
.links a { grid-template-columns: 1.5rem minmax(0, 1fr) auto }
.links svg { inline-size: 1.5rem; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round }
`

const ink =
  ':root { color-scheme: dark; --paper: #141517; --surface: #1c1e21; --sunken: #23262a; --line: #303338; --line-strong: #7d838b; --ink: #ececea; --ink-2: #a9aeb5; --accent: #55c79e; --accent-ink: #06231a; --focus: #8ab4f8 }'
const sand =
  ':root { color-scheme: light; --paper: #f4ecdd; --surface: #fbf6ec; --sunken: #eadfca; --line: #dccfb6; --line-strong: #857862; --ink: #2b2418; --ink-2: #5d523f; --accent: #7a4a12; --accent-ink: #fff; --focus: #0b57d0 }'

/** A color of the owner's has no room for a softer text: everything has the one that is readable on it. */
const owned = (color: string) => {
  const text = readableOn(color)
  const scheme = text === '#ffffff' ? 'dark' : 'light'
  return `
:root { color-scheme: ${scheme}; --paper: ${color}; --surface: ${color}; --sunken: transparent; --ink: ${text}; --ink-2: ${text}; --focus: ${text}; --line: color-mix(in srgb, ${text} 30%, transparent); --line-strong: ${text} }
.avatar { background: ${text}; color: ${color} }
`
}

const themes: Readonly<Record<BioTheme, (color: string) => string>> = {
  paper: () => '',
  ink: () => ink,
  sand: () => sand,
  color: owned,
}

/**
 * Returns the style of a bio page (drawn by the dashboard, too: `src/web/styles/preview.css`), after that of lists: its
 * theme, in the owner's color (`#rrggbb`) where the theme has one.
 */
export const bioStyle = (theme: BioTheme, color: string): Inline => css(layout + themes[theme](color))
