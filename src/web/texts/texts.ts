import type de from './de.json'
import type en from './en.json'
import type es from './es.json'
import type fr from './fr.json'

type Same<T extends typeof en> = T
/** What each language has: the compiler names what one of them lacks. */
export interface Languages {
  readonly en: typeof en
  readonly de: Same<typeof de>
  readonly es: Same<typeof es>
  readonly fr: Same<typeof fr>
}
/** What the shell, the sign-in and the overview say: it is loaded first. `{name}` in a text is filled in. */
export type StartTexts = (typeof en)['start']
/** What the other screens say: it is loaded with the first of them. */
export type ScreenTexts = (typeof en)['screens']
/** Everything that the dashboard says, by where it says it. */
export type Texts = StartTexts & ScreenTexts
