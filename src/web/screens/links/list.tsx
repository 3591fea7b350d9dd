import { useState } from 'preact/hooks'
import type { LinkList } from '../../../http/links/contract/link.ts'
import { useKey } from '../../core/keys.ts'
import { useLoad } from '../../core/load.ts'
import { localCell } from '../../core/csv.ts'
import { saveList } from '../../core/readall.ts'
import { at, href, withQuery } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted } from '../../core/texts.ts'
import { Button, WriteLink } from '../../parts/button.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Head } from '../../parts/section.tsx'
import { Empty, Failed, Skeleton } from '../../parts/states.tsx'
import { BulkBar } from './bulk.tsx'
import { Filters } from './filters.tsx'
import { Table } from './table.tsx'

const filters = ['q', 'tag', 'campaign', 'channel', 'domain', 'made_by', 'archived', 'order'] as const
const sizes = ['25', '50', '100']
/** of the file for a spreadsheet */
const columns = ['shorturl', 'longurl', 'title', 'clicks', 'uniqueclicks', 'date', 'local', 'tags', 'archived'] as const

/** Returns the query of the list that the address of the page names. */
const listQuery = (query: URLSearchParams) => {
  const wanted = new URLSearchParams({ limit: query.get('limit') ?? sizes[0] ?? '25', page: query.get('page') ?? '1' })
  for (const name of filters) {
    const value = query.get(name)
    if (value) wanted.set(name, value)
  }
  return wanted
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

/** What leads on from the list: what visitors looked for in vain, and a file for a spreadsheet. */
const Tools = ({ wanted }: { readonly wanted: URLSearchParams }) => {
  const [saving, setSaving] = useState(false)
  const save = () => {
    setSaving(true)
    void saveList<LinkList>({
      path: '/api/urls',
      name: 'urls',
      query: wanted,
      file: 'links.csv',
      columns,
      cells: (row) => columns.map((name) => (name === 'local' ? localCell(row.date) : row[name])),
    }).finally(() => setSaving(false))
  }
  return (
    <span class="chips">
      <WriteLink href={href('/import')}>{t().imports.link}</WriteLink>
      <a class="button" href={href('/misses')}>
        {t().misses.title}
      </a>
      <Button busy={saving} onClick={save}>
        {t().links.csv}
      </Button>
    </span>
  )
}

/** All links: found, sorted, and changed many at a time. */
export const Links = () => {
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set())
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set())
  const { query } = at.value
  const wanted = listQuery(query)
  const list = useLoad<LinkList>(`/api/urls?${wanted.toString()}`)
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
  return (
    <>
      <Head
        title={texts.title}
        text={list.data ? counted(isFiltered ? texts.match : texts.count, list.data.data.result) : '\u00a0'}
      >
        <Tools wanted={wanted} />
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
