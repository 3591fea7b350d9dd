import type screens from './en/screens.json'
import type start from './en/start.json'

/** What the shell, the sign-in and the overview say: it is loaded first. `{name}` in a text is filled in. */
export type StartTexts = typeof start
/** What the other screens say: it is loaded with the first of them. */
export type ScreenTexts = typeof screens
/** Everything that the dashboard says, by where it says it. The compiler finds what the other languages lack. */
export type Texts = StartTexts & ScreenTexts
