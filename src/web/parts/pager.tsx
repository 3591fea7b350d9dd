import type { AnyPage } from '../../http/api/contract.ts'
import { go, withQuery } from '../core/router.ts'
import { t } from '../core/alltexts.ts'
import { fill, figure } from '../core/texts.ts'

interface PagerProps {
  readonly page: AnyPage['data']
  readonly sizes: readonly string[]
}

/** Leads to the pages of a list. The address has the number of the page. */
export const Pager = ({ page: { result, perpage, currentpage, maxpage }, sizes }: PagerProps) => {
  const texts = t().links
  if (result === 0) return null
  const from = (currentpage - 1) * perpage + 1
  const to = Math.min(result, currentpage * perpage)
  const target = (page: number) => withQuery({ page: page <= 1 ? undefined : String(page) })
  return (
    <nav class="pager" aria-label={texts.pages}>
      <span>{fill(texts.range, { from: figure(from), to: figure(to), of: figure(result) })}</span>
      <label>
        {texts.rows}
        <select
          class="input"
          value={String(perpage)}
          onChange={(event) => go(withQuery({ limit: event.currentTarget.value, page: undefined }))}
        >
          {sizes.map((size) => (
            <option key={size} value={size}>
              {size}
            </option>
          ))}
        </select>
      </label>
      {maxpage > 1 && (
        <span class="end">
          {currentpage > 1 && (
            <a class="button" href={target(currentpage - 1)}>
              {texts.before}
            </a>
          )}
          {currentpage < maxpage && (
            <a class="button" href={target(currentpage + 1)}>
              {texts.next}
            </a>
          )}
        </span>
      )}
    </nav>
  )
}
