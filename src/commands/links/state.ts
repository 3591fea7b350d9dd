import type { StoredLinkFields, Unframed } from '../../events/links/link.ts'
import type { Tokens } from '../claims/claim.ts'

export interface Link {
  readonly status: 'none' | 'open' | 'deleted'
  readonly account: number
  readonly fields: StoredLinkFields
  /** scrypt hash, or `unreadable`, until the owner sets another */
  readonly password: string | null
  readonly tokens: Tokens
  /** destinations that refuse to be framed, also former ones; undefined until one is known */
  readonly unframed: readonly Unframed[] | undefined
}
