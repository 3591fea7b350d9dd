import type { OverlayList } from '../../../../http/pages/contract/overlay.ts'
import { href } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { textFor } from '../../../core/texts.ts'
import { dateColumn, Named } from '../../../parts/listing.tsx'
import { OwnedList } from '../../../parts/ownedlist.tsx'

/** All overlays, which are shown above a framed destination. */
export const Overlays = () => {
  const { overlays: texts, resources } = t()
  return (
    <OwnedList<OverlayList>
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
            <Named name={name} to={href(`/overlays/${id}`)} note={textFor(texts.types, type) ?? type} />
          ),
        },
        dateColumn(resources.created, ({ date }) => date),
      ]}
    />
  )
}
