import type { BioPageList } from '../../../../http/pages/contract/bio.ts'
import { withoutScheme } from '../../../core/address.ts'
import { href } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { CopyButton } from '../../../parts/button.tsx'
import { Named } from '../../../parts/listing.tsx'
import { OwnedList } from '../../../parts/ownedlist.tsx'
import { Visits } from '../../../parts/visits.tsx'

/** All bio pages: one address for many links. */
export const Bios = () => {
  const { bios: texts, resources, links } = t()
  return (
    <OwnedList<BioPageList>
      path="/api/bio"
      field="bio"
      one="/api/bio"
      texts={texts}
      nameOf={({ name }) => name}
      make="/bio/new"
      columns={[
        {
          name: resources.name,
          cell: ({ id, name, link }) => <Named name={name} to={href(`/bio/${id}`)} note={withoutScheme(link)} />,
        },
        {
          name: texts.views,
          kind: 'num',
          cell: ({ id, name, views }) => (
            <Visits n={views} name={`${name}, ${texts.views}`} of={{ bio: String(id), rule: 'view' }} />
          ),
        },
        {
          name: links.clicks,
          kind: 'wide',
          cell: ({ id, name, clicks }) => (
            <Visits n={clicks} name={`${name}, ${links.clicks}`} of={{ bio: String(id) }} />
          ),
        },
      ]}
      tools={({ link }) => <CopyButton text={link} label={fill(t().actions.copy, { what: withoutScheme(link) })} />}
    />
  )
}
