import { withoutScheme } from '../../core/address.ts'
import type { LinkRow } from '../../../http/links/contract/link.ts'
import { at, go, href, withQuery } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { CopyButton } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { When } from '../../parts/when.tsx'
import { LinkClicks, LinkVisitors } from './figures.tsx'
import { SecondLine } from './rowstate.tsx'

/** Returns the part of a short address before its alias. */
const placeOf = ({ domain }: Pick<LinkRow, 'domain'>) => `${withoutScheme(domain)}/`

interface RowProps {
  readonly link: LinkRow
  readonly picked: boolean
  readonly onPick: (picked: boolean) => void
}

const Row = ({ link, picked, onPick }: RowProps) => {
  const texts = t().links
  return (
    <tr>
      <td class="pick-cell">
        <label class="tick">
          <span class="visually-hidden">{fill(texts.select, { name: link.alias })}</span>
          <input
            class="check"
            type="checkbox"
            checked={picked}
            onChange={(event) => onPick(event.currentTarget.checked)}
          />
        </label>
      </td>
      <td class="name-cell">
        <a class="name cut" href={href(`/links/${link.id}`)} title={withoutScheme(link.shorturl)}>
          <span>{placeOf(link)}</span>
          {link.alias}
        </a>
        <SecondLine link={link} />
      </td>
      <td class="tags-cell">
        <ul class="tags">
          {link.tags.slice(0, 3).map((tag) => (
            <li key={tag}>{tag}</li>
          ))}
        </ul>
      </td>
      <td class="num clicks-cell">
        <LinkClicks {...link} />
      </td>
      <td class="num spark-cell quiet">
        <LinkVisitors {...link} />
      </td>
      <td class="changed-cell">
        <When at={moment(link.date)} as="date" />
      </td>
      <td class="do-cell">
        <div class="do">
          <CopyButton text={link.shorturl} label={fill(t().actions.copy, { what: withoutScheme(link.shorturl) })} />
        </div>
      </td>
    </tr>
  )
}

/** A column by which the list can be sorted. */
const Sort = ({
  order,
  name,
  numeric,
}: {
  readonly order: string
  readonly name: string
  readonly numeric?: boolean
}) => {
  const current = (at.value.query.get('order') ?? 'date') === order
  const target = withQuery({ order: order === 'date' ? undefined : order, page: undefined })
  return (
    <th scope="col" class={numeric ? 'num clicks-cell' : 'changed-cell'} aria-sort={current ? 'descending' : undefined}>
      <button type="button" onClick={() => go(target)}>
        {name}
        {current && <Icon name="down" />}
      </button>
    </th>
  )
}

interface TableProps {
  readonly rows: readonly LinkRow[]
  readonly picked: ReadonlySet<number>
  readonly onPick: (ids: readonly number[], picked: boolean) => void
}

/** The links of a page, with what is known of each. */
export const Table = ({ rows, picked, onPick }: TableProps) => {
  const texts = t().links
  const all = rows.length > 0 && rows.every(({ id }) => picked.has(id))
  return (
    <table class="links">
      <caption class="visually-hidden">{texts.title}</caption>
      <colgroup>
        <col class="c-pick" />
        <col />
        <col class="c-tags" />
        <col class="c-clicks" />
        <col class="c-clicks" />
        <col class="c-changed" />
        <col class="c-copy" />
      </colgroup>
      <thead>
        <tr>
          <th scope="col">
            <label class="tick">
              <span class="visually-hidden">{texts.selectPage}</span>
              <input
                class="check"
                type="checkbox"
                checked={all}
                onChange={(event) =>
                  onPick(
                    rows.map(({ id }) => id),
                    event.currentTarget.checked,
                  )
                }
              />
            </label>
          </th>
          <th scope="col">{texts.link}</th>
          <th scope="col" class="tags-cell">
            {texts.tags}
          </th>
          <Sort order="click" name={texts.clicks} numeric />
          <th scope="col" class="num spark-cell">
            {texts.visitors}
          </th>
          <Sort order="date" name={texts.created} />
          <th scope="col">
            <span class="visually-hidden">{texts.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((link) => (
          <Row
            key={link.id}
            link={link}
            picked={picked.has(link.id)}
            onPick={(isPicked) => onPick([link.id], isPicked)}
          />
        ))}
      </tbody>
    </table>
  )
}
