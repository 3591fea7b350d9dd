const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Markup that is inserted into other markup as it is. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | readonly Html[]

const markupOf = (value: Value): string => {
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(markupOf).join('')
  return String(value).replaceAll(/[&<>"']/g, (character) => entities[character]!)
}

/**
 * Template tag of all pages. Values are escaped, for text and for quoted attributes; `Html` values are inserted as they
 * are.
 */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]) =>
  new Html(parts.reduce((text, part, i) => text + markupOf(values[i - 1] ?? '') + part))

/** Returns a text with a value in place of its `#`. */
export const filled = (text: string, value: string) => text.replace('#', () => value)

/** Returns a text as markup, with markup in place of its `#`. */
export const around = (text: string, value: Html) => {
  const [before = '', after = ''] = text.split('#')
  return html`${before}${value}${after}`
}
