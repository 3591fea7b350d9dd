import type { AnyPage, EntryOf, NameIn } from '../../http/api/contract.ts'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { remove, useHidden } from '../core/removal.ts'
import { href } from '../core/router.ts'
import { t } from '../core/alltexts.ts'
import { fill, type Plural } from '../core/texts.ts'
import { Button, IconButton, WriteLink } from './button.tsx'
import { Icon } from './icon.tsx'
import { Listing, ListHead, type ListingProps, useList } from './listing.tsx'

/** An entry of a list of resources. */
type Row<L extends AnyPage> = EntryOf<L> & { readonly id: number }

interface OwnedListProps<L extends AnyPage> extends Pick<ListingProps<Row<L>>, 'columns' | 'searchFor' | 'tools'> {
  /** of the list, such as `/api/channels` */
  readonly path: string
  /** the field of the answer that has the rows */
  readonly field: NameIn<L>
  /** of one resource, such as `/api/channel` */
  readonly one: string
  readonly texts: Readonly<Record<'title' | 'text' | 'create' | 'none' | 'noneText', string>> & {
    readonly count: Plural
  }
  readonly nameOf: (row: Row<L>) => string
  /** the screen on which a new one is made, or the form in which it is made, without a row */
  readonly make: string | ((onClose: () => void, row?: Row<L>) => ComponentChildren)
  /** the form changes a row, too */
  readonly changes?: boolean
}

/** The list of one kind of resource: making, changing and deleting them. */
export const OwnedList = <L extends AnyPage>(props: OwnedListProps<L>) => {
  const { path, field, one, texts, columns, searchFor = t().resources.searchFor, nameOf, make, changes, tools } = props
  const [editing, setEditing] = useState<Row<L> | 'new' | undefined>(undefined)
  const { list, rows } = useList<L>(path, field)
  const { isHidden, hide } = useHidden()
  const { resources } = t()
  const create =
    typeof make === 'string' ? (
      <WriteLink kind="primary" href={href(make)}>
        <Icon name="plus" />
        {texts.create}
      </WriteLink>
    ) : (
      <Button kind="primary" icon="plus" onClick={() => setEditing('new')}>
        {texts.create}
      </Button>
    )
  const close = () => setEditing(undefined)
  const buttons = (row: Row<L>) => {
    const name = nameOf(row)
    return (
      <>
        {tools?.(row)}
        {changes && (
          <IconButton icon="edit" label={fill(resources.editNamed, { name })} onClick={() => setEditing(row)} />
        )}
        <IconButton
          icon="trash"
          label={fill(resources.deleteNamed, { name })}
          onClick={() => void remove(one, { id: row.id, name }, () => hide(row.id))}
        />
      </>
    )
  }
  return (
    <>
      <ListHead title={texts.title} text={texts.text} count={texts.count} list={list}>
        {create}
      </ListHead>
      <Listing
        title={texts.title}
        list={list}
        rows={(rows as readonly Row<L>[]).filter(({ id }) => !isHidden(id))}
        keyOf={({ id }) => id}
        searchFor={searchFor}
        none={{ title: texts.none, text: texts.noneText, action: create }}
        columns={columns}
        tools={buttons}
      />
      {editing !== undefined && typeof make !== 'string' && (editing === 'new' ? make(close) : make(close, editing))}
    </>
  )
}
