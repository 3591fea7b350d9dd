import type { BioPageDetails } from '../../../../http/pages/contract/bio.ts'

export const themes = ['paper', 'ink', 'sand', 'color'] as const
export type Theme = (typeof themes)[number]

/** An entry of a page. `key` names it within the form; `id` is that of the service, which keeps its clicks. */
export interface Entry {
  readonly key: number
  readonly id: number | undefined
  readonly title: string
  readonly url: string
}
/** A bio page as its form has it. */
export interface Draft {
  readonly name: string
  readonly alias: string
  readonly title: string
  readonly description: string
  readonly avatar: string
  readonly theme: Theme
  readonly color: string
  readonly entries: readonly Entry[]
}

export const blank: Draft = {
  name: '',
  alias: '',
  title: '',
  description: '',
  avatar: '',
  theme: 'paper',
  color: '#1d4ed8',
  entries: [{ key: 0, id: undefined, title: '', url: '' }],
}
/** as the API names them */
export const fields = ['name', 'alias', 'title', 'description', 'avatar', 'theme', 'color', 'links']

/** Returns the form of a page that there is. */
export const draftOf = ({ name, alias, title, description, avatar, theme, color, links }: BioPageDetails): Draft => ({
  name,
  alias,
  title,
  description,
  avatar,
  // the theme of a newer release stays as it is
  theme: theme as Theme,
  color,
  entries: links.map(({ id, title: text, url }, key) => ({ key, id, title: text, url })),
})

const isFilled = ({ title, url }: Entry) => title.trim() !== '' || url.trim() !== ''

/** Returns a form as the API takes it: entries that are empty are left out. */
export const bodyOf = ({ entries, alias, ...rest }: Draft) => ({
  ...rest,
  ...(alias === '' ? {} : { alias }),
  links: entries
    .filter(isFilled)
    .map(({ id, title, url }) => ({ ...(id === undefined ? {} : { id }), title: title.trim(), url: url.trim() })),
})

/** Returns a form with one more entry. */
export const withEntry = (entries: readonly Entry[]): readonly Entry[] => [
  ...entries,
  { key: Math.max(-1, ...entries.map(({ key }) => key)) + 1, id: undefined, title: '', url: '' },
]
