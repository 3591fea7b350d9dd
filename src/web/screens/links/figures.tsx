import type { LinkRow } from '../../../http/links/contract/link.ts'
import { t } from '../../core/alltexts.ts'
import { Visits } from '../../parts/visits.tsx'

type Row = Pick<LinkRow, 'id' | 'alias' | 'clicks' | 'uniqueclicks'>

/** The clicks of a link, which lead to them. */
export const LinkClicks = ({ id, alias, clicks }: Row) => (
  <Visits n={clicks} name={`${alias}, ${t().links.clicks}`} of={{ link: String(id) }} />
)

/** Those of visitors who came for the first time. */
export const LinkVisitors = ({ id, alias, uniqueclicks }: Row) => (
  <Visits n={uniqueclicks} name={`${alias}, ${t().links.visitors}`} of={{ link: String(id), unique: 'true' }} />
)
