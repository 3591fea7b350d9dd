import { useState } from 'preact/hooks'
import { withoutScheme } from '../../core/address.ts'
import type { LinkRow, Links as LinksAnswer } from '../../core/answers.ts'
import { useKey } from '../../core/keys.ts'
import { useLoad } from '../../core/load.ts'
import { at, go, href, withQuery } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill, figure } from '../../core/texts.ts'
import { dateOf, moment } from '../../core/time.ts'
import { Button, CopyButton, WriteLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { SecondLine } from './rowstate.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Head } from '../../parts/section.tsx'
import { Empty, Failed, Skeleton } from '../../parts/states.tsx'
import { BulkBar } from './bulk.tsx'
import { Filters } from './filters.tsx'
import { saveLinks } from './save.ts'

const filters = ['q', 'tag', 'campaign', 'channel', 'domain', 'archived', 'order'] as const
const sizes = ['25', '50', '100']

/** Returns the query of the list that the address of the page names. */
const listQuery = (query: URLSearchParams) => {
  const wanted = new URLSearchParams({ limit: query.get('limit') ?? sizes[0] ?? '25', page: query.get('page') ?? '1' })
  for (const name of filters) {
    const value = query.get(name)
    if (value) wanted.set(name, value)
  }
  return wanted
}

/** Returns the part of a short address before its alias. */
const placeOf = ({ shorturl, alias }: Pick<LinkRow, 'shorturl' | 'alias'>) =>
  withoutScheme(shorturl).slice(0, -alias.length)

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
      <td class="num clicks-cell">{figure(link.clicks)}</td>
      <td class="num spark-cell quiet">{figure(link.uniqueclicks)}</td>
      <td class="changed-cell">{dateOf(moment(link.date))}</td>
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

const Table = ({ rows, picked, onPick }: TableProps) => {
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

const Nothing = ({ filtered }: { readonly filtered: boolean }) => {
  const texts = t().links
  return filtered ? (
    <Empty
      title={texts.noMatch}
      text={texts.noMatchText}
      action={
        <a class="button" href={href('/links')}>
          {t().filters.clear}
        </a>
      }
    />
  ) : (
    <Empty
      title={texts.none}
      text={texts.noneText}
      action={
        <WriteLink kind="primary" href={withQuery({ sheet: 'new' })}>
          {t().nav.createLink}
        </WriteLink>
      }
    />
  )
}

/** All links: found, sorted, and changed many at a time. */
export const Links = () => {
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set())
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set())
  const [saving, setSaving] = useState(false)
  const { query } = at.value
  const wanted = listQuery(query)
  const list = useLoad<LinksAnswer>(`/api/urls?${wanted.toString()}`)
  const texts = t().links
  useKey('Escape', () => setPicked(new Set()))
  const rows = (list.data?.data.urls ?? []).filter(({ id }) => !hidden.has(id))
  const isFiltered = filters.some((name) => name !== 'order' && query.has(name))
  const pick = (ids: readonly number[], isPicked: boolean) =>
    setPicked((before) => {
      const after = new Set(before)
      for (const id of ids)
        if (isPicked) after.add(id)
        else after.delete(id)
      return after
    })
  const save = () => {
    setSaving(true)
    void saveLinks(wanted).finally(() => setSaving(false))
  }
  return (
    <>
      <Head
        title={texts.title}
        text={list.data ? counted(isFiltered ? texts.match : texts.count, list.data.data.result) : '\u00a0'}
      >
        <Button busy={saving} onClick={save}>
          {texts.csv}
        </Button>
      </Head>
      <Filters />
      {picked.size > 0 && (
        <BulkBar
          ids={[...picked]}
          onHide={(ids) => setHidden((before) => new Set([...before, ...ids]))}
          onShow={(ids) => setHidden((before) => new Set([...before].filter((id) => !ids.includes(id))))}
          onClear={() => setPicked(new Set())}
        />
      )}
      {list.error && <Failed error={list.error} reload={list.reload} />}
      {!list.data && !list.error && <Skeleton rows={12} label={texts.title} />}
      {list.data && rows.length === 0 && <Nothing filtered={isFiltered} />}
      {rows.length > 0 && <Table rows={rows} picked={picked} onPick={pick} />}
      {list.data && <Pager page={list.data.data} sizes={sizes} />}
    </>
  )
}
