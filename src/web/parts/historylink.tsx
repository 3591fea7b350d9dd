import { href } from '../core/router.ts'
import { t } from '../core/alltexts.ts'
import { fill } from '../core/texts.ts'
import { Icon } from './icon.tsx'

interface HistoryLinkProps {
  /** its kind, as the API names it */
  readonly of: string
  readonly id: number
  /** in a row of a list: the name of the resource */
  readonly name?: string
}

/** Links to the history of a resource, which shows its changes and can restore it. */
export const HistoryLink = ({ of, id, name }: HistoryLinkProps) => {
  const { history } = t()
  const to = href('/history', { of: `${of}-${id}` })
  const label = fill(history.of, { what: name ?? '' })
  return name === undefined ? (
    <a class="button" href={to}>
      <Icon name="history" />
      {history.title}
    </a>
  ) : (
    <a class="button plain only-icon" href={to} aria-label={label} title={label}>
      <Icon name="history" />
    </a>
  )
}
