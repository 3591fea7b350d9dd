import type { ComponentChildren } from 'preact'
import type { AnyPage, EntryOf, NameIn } from '../../http/api/contract.ts'
import { type Loaded, useLoad } from '../core/load.ts'
import { entriesOf } from '../core/readall.ts'
import { at, href } from '../core/router.ts'
import { t } from '../core/alltexts.ts'
import { counted, type Plural } from '../core/texts.ts'
import { moment } from '../core/time.ts'
import { Pager } from './pager.tsx'
import { ListSearch } from './search.tsx'
import { Head } from './section.tsx'
import { Empty, Failed, Skeleton } from './states.tsx'
import { When } from './when.tsx'

const sizes = ['25', '50', '100']

/** Returns the query of the list that the address of the page names. */
export const listQuery = (more: Readonly<Record<string, string>> = {}): URLSearchParams => {
  const { query } = at.value
  const q = query.get('q')
  return new URLSearchParams({
    limit: query.get('limit') ?? sizes[0] ?? '25',
    page: query.get('page') ?? '1',
    ...(q && { q }),
    ...more,
  })
}

export interface Column<R> {
  readonly name: string
  /** `wide`: left out where there is little room; `num`: a figure */
  readonly kind?: 'num' | 'wide' | 'state' | undefined
  readonly cell: (row: R) => ComponentChildren
}

/** A column of days. */
export const dateColumn = <R,>(name: string, of: (row: R) => string): Column<R> => ({
  name,
  kind: 'wide',
  cell: (row) => <When at={moment(of(row))} as="date" />,
})

export interface ListingProps<R> {
  /** of the table, for those who do not see it */
  readonly title: string
  readonly list: Loaded<AnyPage>
  readonly rows: readonly R[]
  readonly keyOf: (row: R) => string | number
  /** the first one is the name of the row */
  readonly columns: readonly Column<R>[]
  /** buttons at the end of a row */
  readonly tools?: ((row: R) => ComponentChildren) | undefined
  readonly searchFor?: string | undefined
  /** beside the search */
  readonly beside?: ComponentChildren
  /** what there is to see, and to do, when there is nothing */
  readonly none: { readonly title: string; readonly text: string; readonly action?: ComponentChildren }
}

const Rows = <R,>({ title, rows, keyOf, columns, tools }: ListingProps<R>) => (
  <table class="list">
    <caption class="visually-hidden">{title}</caption>
    <thead>
      <tr>
        {columns.map(({ name, kind }) => (
          <th key={name} scope="col" class={kind}>
            {name}
          </th>
        ))}
        {tools && (
          <th scope="col">
            <span class="visually-hidden">{t().links.actions}</span>
          </th>
        )}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map(({ name, kind, cell }, n) =>
            n === 0 ? (
              <th key={name} scope="row">
                {cell(row)}
              </th>
            ) : (
              <td key={name} class={kind}>
                {cell(row)}
              </td>
            ),
          )}
          {tools && (
            <td class="tools-cell">
              <div>{tools(row)}</div>
            </td>
          )}
        </tr>
      ))}
    </tbody>
  </table>
)

/** One page of a list: its search, its rows, and what is shown while there are none. */
export const Listing = <R,>(props: ListingProps<R>) => {
  const { title, list, rows, searchFor, beside, none } = props
  const isSearched = at.value.query.has('q')
  const isEmpty = list.data?.data.result === 0 || (list.data !== undefined && rows.length === 0)
  const texts = t().resources
  return (
    <>
      {searchFor !== undefined && (!isEmpty || isSearched || !list.data) && (
        <div class="toolbar">
          <ListSearch label={searchFor} />
          {beside}
        </div>
      )}
      {list.error && <Failed error={list.error} reload={list.reload} />}
      {!list.data && !list.error && <Skeleton rows={8} label={title} />}
      {isEmpty &&
        (isSearched ? (
          <Empty
            title={texts.noMatch}
            text={texts.noMatchText}
            action={
              <a class="button" href={href(at.value.path)}>
                {texts.clear}
              </a>
            }
          />
        ) : (
          <Empty {...none} />
        ))}
      {rows.length > 0 && <Rows {...props} />}
      {list.data && <Pager page={list.data.data} sizes={sizes} />}
    </>
  )
}

/** Reads one page of a list, as the address of the page asks for it. */
export const useList = <L extends AnyPage>(path: string, name: NameIn<L>, more?: Readonly<Record<string, string>>) => {
  const list = useLoad<AnyPage>(`${path}?${listQuery(more).toString()}`)
  const rows: readonly EntryOf<L>[] = list.data ? entriesOf<L>(list.data, name) : []
  return { list, rows }
}

interface ListHeadProps {
  readonly title: string
  readonly text: string
  readonly count: Plural
  readonly list: Loaded<AnyPage>
  readonly children?: ComponentChildren
}

/** The heading of a list: how many there are, and what they are for. */
export const ListHead = ({ title, text, count, list, children }: ListHeadProps) => (
  <Head
    title={title}
    text={
      <>
        {list.data ? counted(count, list.data.data.result) : '\u00a0'}
        {list.data && ' · '}
        {list.data && text}
      </>
    }
  >
    {children}
  </Head>
)

/** The name of a row, which leads to it, and a second line. */
export const Named = ({
  name,
  to,
  note,
}: {
  readonly name: string
  readonly to?: string | undefined
  readonly note?: ComponentChildren
}) => (
  <>
    {to === undefined ? (
      <span class="name cut" dir="auto" title={name}>
        {name}
      </span>
    ) : (
      <a class="name cut" dir="auto" href={to} title={name}>
        {name}
      </a>
    )}
    {note && (
      <span class="note cut" dir="auto">
        {note}
      </span>
    )}
  </>
)
