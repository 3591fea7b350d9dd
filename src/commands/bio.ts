import type { BioFields } from '../events/bio.ts'
import { aliasKey } from './link.ts'
import { owned } from './owned.ts'

/** Bio pages and the links of the service's own host share their aliases. */
export const bio = owned<'Bio', BioFields>('Bio', {
  label: 'Bio page',
  initial: { name: '', alias: '', title: '', description: '', avatar: '', links: [] },
  claim: { kind: 'alias', name: ({ alias }) => aliasKey({ domain: null, alias }) },
})
