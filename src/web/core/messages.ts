import { fill, lang } from './texts.ts'

/** Sentences of the API by how it says them in English, without the name of a field; `{n}` is what it fills in. */
type Messages = Readonly<Record<string, string>>

const languages: Readonly<Record<string, () => Promise<Messages>>> = {
  de: async () => (await import('../texts/de/messages.ts')).messages,
  es: async () => (await import('../texts/es/messages.ts')).messages,
  fr: async () => (await import('../texts/fr/messages.ts')).messages,
}

const escaped = (text: string) => text.replaceAll(/[.*+?^$()[\]\\|]/g, String.raw`\$&`)
const patternOf = (english: string) => new RegExp(`^${escaped(english).replaceAll(/\{(\w+)\}/g, '(?<$1>.+)')}$`)

/** Returns a sentence in the language of a table, undefined where the table does not have it. */
export const translated = (sentence: string, messages: Messages): string | undefined => {
  for (const [english, text] of Object.entries(messages)) {
    const found = patternOf(english).exec(sentence)
    if (found) return fill(text, found.groups ?? {})
  }
  return undefined
}

/** What the API says is wrong. */
export interface Told {
  /** the field that it is about, as the API names it */
  readonly field: string | undefined
  /** for somebody who sees the field */
  readonly words: string
  /** for somebody who does not */
  readonly message: string
}

/** Takes a message of the API apart, which is `` `field` must be … `` or a sentence about no field, and says it in the language of the page. */
export const told = async (message: string): Promise<Told> => {
  const [, path, field, rest] = /^`(([\w-]+)(?:\.[.\w-]*)?)` (.*)$/s.exec(message) ?? []
  // a table that cannot be loaded leaves the sentence in English
  const messages = (await languages[lang.value]?.().catch(() => undefined)) ?? {}
  const known = translated(rest ?? message, messages)
  if (rest === undefined) return { field, words: known ?? message, message: known ?? message }
  return { field, words: known ?? `This ${rest}`, message: known ? `${path}: ${known}` : message }
}
