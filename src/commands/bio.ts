import type { BioFields } from '../events/bio.ts'
import { aliasClaimName } from './alias.ts'
import { owned } from './owned.ts'

const initial: BioFields = { name: '', alias: '', title: '', description: '', avatar: '', links: [] }

/** Bio pages share the aliases of the links on the service's own host. */
export const bio = owned(
  { created: 'BioCreated', updated: 'BioUpdated', deleted: 'BioDeleted' },
  {
    kind: 'bio',
    version: 1,
    label: 'Bio page',
    initial,
    claim: { kind: 'alias', name: ({ alias }) => aliasClaimName({ domain: null, alias }), chosen: 'alias' },
  },
)
