import { href } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { dateOf, moment } from '../../../core/time.ts'
import { Named } from '../../../parts/listing.tsx'
import { OwnedList } from '../../../parts/ownedlist.tsx'
import type { OverlayType } from './draft.ts'

interface OverlayRow {
  readonly id: number
  readonly type: OverlayType
  readonly name: string
  readonly date: string
}

/** All overlays: what stands above a framed destination. */
export const Overlays = () => {
  const { overlays: texts, resources } = t()
  return (
    <OwnedList<OverlayRow>
      path="/api/overlay"
      field="cta"
      one="/api/overlay"
      texts={texts}
      nameOf={({ name }) => name}
      make="/overlays/new"
      columns={[
        {
          name: resources.name,
          cell: ({ id, name, type }) => (
            <Named name={name} to={href(`/overlays/${id}`)} note={texts.types[type] ?? type} />
          ),
        },
        { name: resources.created, kind: 'wide', cell: ({ date }) => dateOf(moment(date)) },
      ]}
    />
  )
}
