import type * as screens from './en/screens.ts'
import type * as start from './en/start.ts'

/** What the shell, the sign-in and the overview say: it is loaded first. `{name}` in a text is filled in. */
export type StartTexts = typeof start
/** What the other screens say: it is loaded with the first of them. */
export type ScreenTexts = typeof screens
/** Everything that the dashboard says, by where it says it. The other languages have the same shape: the compiler finds what one lacks. */
export type Texts = StartTexts & ScreenTexts
