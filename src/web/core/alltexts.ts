import { allTexts } from './texts.ts'
import type { Texts } from '../texts/texts.ts'

/** Returns all texts in the language of the page: for what is loaded after the first screen. */
export const t = (): Texts => allTexts.value!
