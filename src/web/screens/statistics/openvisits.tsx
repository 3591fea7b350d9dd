import { at, href, visitsLink } from '../../core/router.ts'
import { allTexts, fill } from '../../core/texts.ts'

const bots = 'bot,preview,prefetch,assistant,excluded'

/** What was visited is a link by its number, or `qr/7`. */
const subjectOf = (value: string): Readonly<Record<string, string>> => {
  const [kind = '', id] = value.split('/')
  return id ? { link: '', [kind]: id } : { link: value }
}

/** Returns the address of the visits behind a figure of this screen: clicks, unless the filters say otherwise. */
export const visitsOf = ({ link, class: kinds, ...more }: Readonly<Record<string, string>>): string => {
  const { path, query } = at.value
  const [, shown = '', id] = /^\/(link|campaign|channel|bio|member)s?\/(\d+)/.exec(path) ?? []
  const of = shown === 'member' ? 'made_by' : shown
  return href('/visits', {
    class: 'human',
    ...Object.fromEntries(query),
    [of]: id,
    ...(kinds !== undefined && { class: kinds === 'bots' ? bots : kinds }),
    ...(link !== undefined && subjectOf(link)),
    ...more,
  })
}

/** Makes every figure a link to its visits: over the figure, as that is part of another link. */
export const openVisits = (): void => {
  visitsLink.value ??= ({ name, visits }) => (
    <a class="visits" href={visitsOf(visits)} aria-label={fill(allTexts.value?.through.visits ?? '{name}', { name })} />
  )
}
