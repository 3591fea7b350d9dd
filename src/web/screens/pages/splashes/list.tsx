import type { SplashList } from '../../../../http/pages/contract/splash.ts'
import { href } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { dateColumn, Named } from '../../../parts/listing.tsx'
import { OwnedList } from '../../../parts/ownedlist.tsx'

/** All splash pages, which visitors see before the redirect. */
export const Splashes = () => (
  <OwnedList<SplashList>
    path="/api/splash"
    field="splash"
    one="/api/splash"
    texts={t().splashes}
    nameOf={({ name }) => name}
    make="/splash/new"
    columns={[
      { name: t().resources.name, cell: ({ id, name }) => <Named name={name} to={href(`/splash/${id}`)} /> },
      dateColumn(t().resources.created, ({ date }) => date),
    ]}
  />
)
