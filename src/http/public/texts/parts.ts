/** A page with a heading and a sentence or two. */
export interface Message {
  readonly title: string
  readonly text: string
}

/** A text around a number (`#`), for each form that the languages of our pages have for it. */
export interface Plural {
  readonly one: string
  readonly other: string
}
