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
