import { css } from './css.ts'

/**
 * Style of every page: colors and sizes, text, the three parts of a page (`.top`: which link, `.main`: where to,
 * `.foot`: whom to ask), and its buttons. All properties are logical, for languages that are written from right to
 * left.
 */
export const baseStyle = css(`
:root {
  color-scheme: light dark;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace;
  --size-1: .8125rem; --size-2: .875rem; --size-3: 1rem; --size-4: 1.25rem; --size-5: 1.75rem;
  --space-1: .25rem; --space-2: .5rem; --space-3: .75rem; --space-4: 1rem; --space-5: 1.5rem; --space-6: 2.5rem; --space-7: 4rem;
  --radius: 6px; --radius-large: 12px; --rule: 1px;
  --paper: #faf9f5; --surface: #fff; --sunken: #f2f0ea; --line: #dedbd2; --line-strong: #8b877c;
  --ink: #1a1c1e; --ink-2: #565b62; --accent: #0a6349; --accent-ink: #fff; --focus: #0b57d0;
  --danger: #a8201a; --danger-soft: #fbe9e7;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #141517; --surface: #1c1e21; --sunken: #23262a; --line: #303338; --line-strong: #7d838b;
    --ink: #ececea; --ink-2: #a9aeb5; --accent: #55c79e; --accent-ink: #06231a; --focus: #8ab4f8;
    --danger: #ff8f86; --danger-soft: #3a1a18;
  }
}
*, ::before, ::after { box-sizing: border-box }
html { background: var(--paper); color: var(--ink); font: var(--size-3)/1.5 var(--font); -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { --go: var(--accent); --on-go: var(--accent-ink); margin: 0; min-block-size: 100vh; min-block-size: 100svh; display: grid; grid-template: auto 1fr auto / minmax(0, 1fr); background: var(--paper); color: var(--ink); overflow-wrap: anywhere }
:where(h1, h2, p, ul, ol, dl, dd, fieldset) { margin: 0; padding: 0 }
a { color: inherit; text-underline-offset: .2em; text-decoration-thickness: 1px }
a:hover { text-decoration-thickness: 2px }
img, svg { display: block; max-inline-size: 100%; block-size: auto }
[hidden] { display: none !important }
/* the inner ring has the color of the page, so that the outer one never touches an owner's color */
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; box-shadow: 0 0 0 2px var(--paper) }
/* text for screen readers only */
.said { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.top { grid-row: 1 }
.main { grid-row: 2 }
.foot { grid-row: 3 }
.top, .main, .foot { inline-size: min(100% - 2.5rem, 35rem); margin-inline: auto }
.top { display: flex; align-items: center; gap: var(--space-3) var(--space-4); flex-wrap: wrap; min-block-size: 3.5rem; padding-block: var(--space-3); border-block-end: var(--rule) solid var(--line); font-size: var(--size-2); color: var(--ink-2) }
.address { font-family: var(--mono); font-size: .9375em; unicode-bidi: isolate }
.main { padding-block: clamp(2rem, 12vh, 6.5rem) var(--space-7) }
.foot { padding-block: var(--space-3) var(--space-4); border-block-start: var(--rule) solid var(--line); font-size: var(--size-2); color: var(--ink-2) }
.foot ul { display: flex; flex-wrap: wrap; column-gap: var(--space-5); list-style: none }
.foot li a { display: inline-flex; align-items: center; min-block-size: 2.75rem; min-inline-size: 2.75rem }
.foot p { padding-block-start: var(--space-2) }
.danger { border-block-start: 4px solid var(--danger) }
h1 { font-size: clamp(1.375rem, .95rem + 2.1vw, 2rem); line-height: 1.2; font-weight: 650; letter-spacing: -.015em; text-wrap: balance }
h2 { font-size: var(--size-3); line-height: 1.4; font-weight: 650 }
:where(.main > * + *) { margin-block-start: var(--space-4) }
:where(.main > h1 + *) { margin-block-start: var(--space-3) }
.soft { color: var(--ink-2) }
.small { font-size: var(--size-2); color: var(--ink-2) }
/* a run of combining marks is one letter, which no line breaks */
:where([dir=auto]) { min-inline-size: 0; max-inline-size: 100%; overflow-x: clip }
.owner-text { white-space: pre-line }
.asked { margin-block-start: var(--space-2); font-size: 1.0625rem; color: var(--ink-2) }
.asked s { text-decoration-thickness: 1px }
.asked u { text-decoration: underline wavy var(--danger) 1px; text-underline-offset: .3em; color: var(--ink) }
.next { margin-block-start: var(--space-5); padding-block-start: var(--space-4); border-block-start: var(--rule) solid var(--line) }
.next p, .next ul { margin-block-start: var(--space-1) }
.next ul { padding-inline-start: 1.25em }
.next li + li { margin-block-start: var(--space-1) }
.next li::marker { color: var(--line-strong) }
.next + .next { margin-block-start: var(--space-4) }
.where > span { display: block; margin-block-end: var(--space-2); font-size: var(--size-3); line-height: 1.5; font-weight: 400; letter-spacing: 0; color: var(--ink-2) }
.where bdi { color: var(--ink-2); font-weight: 500; text-wrap: wrap }
bdi b { display: inline-block }
.where b { color: var(--ink); font-weight: 650 }
.path { margin-block-start: var(--space-2); color: var(--ink-2) }
.actions { display: flex; flex-wrap: wrap; gap: var(--space-3); margin-block-start: var(--space-5) }
.button { display: inline-flex; flex-direction: column; align-items: center; justify-content: center; min-block-size: 3rem; padding: .5rem 1.25rem; border: var(--rule) solid var(--line-strong); border-radius: var(--radius); background: transparent; color: var(--ink); font: 600 1rem/1.3 var(--font); text-align: center; text-decoration: none; cursor: pointer }
.button:hover { background: var(--sunken) }
.button.go { background: var(--go); color: var(--on-go); border-color: var(--go) }
.button.go:hover { text-decoration: underline; text-decoration-thickness: 2px }
.button small { font-weight: 400; font-size: var(--size-2) }
.button.small-one { min-block-size: 2.75rem; padding: .25rem .875rem; font-size: var(--size-2) }
.choice { margin-block-start: var(--space-5); padding-block-start: var(--space-4); border-block-start: var(--rule) solid var(--line) }
.choice .actions { margin-block-start: var(--space-3) }
.reference { font-family: var(--mono); white-space: nowrap }
@media (max-width: 30rem) { .actions > .button { inline-size: 100% } }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { transition: none !important; animation: none !important } }
@media (forced-colors: active) { .button { border: 1px solid ButtonText } }
`)
