/** A page that is a heading, a sentence or two, and what the visitor can do. */
export interface Message {
  readonly title: string
  readonly text: string
  readonly next?: readonly string[]
}

/** A text around a number (`#`), for each form that the languages of our pages have for it. */
export interface Plural {
  readonly one: string
  readonly other: string
}

export const message = (title: string, text: string, ...next: readonly string[]): Message => ({ title, text, next })
export const plural = (one: string, other: string): Plural => ({ one, other })

/** A mail: its subject, and what is above and below the link in it, if it has one. */
export interface Mail {
  readonly subject: string
  readonly text: string
  readonly note: string
}
