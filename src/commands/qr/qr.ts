import type { QrFields, QrPersonal } from '../../events/qr/qr.ts'
import { aliasKey } from '../../lib/short/alias.ts'
import { owned } from '../owned/owned.ts'

const initial: QrFields = {
  type: 'text',
  alias: '',
  foreground: '#000000',
  background: '#ffffff',
  logo: null,
  // events of 0.1.0 do not have it
  logoHash: undefined,
}
const personal: QrPersonal = { name: '', data: '' }

/** QR codes have aliases of their own, under `/qr/`. */
export const qr = owned(
  { created: 'QrCreated', updated: 'QrUpdated', deleted: 'QrDeleted', restored: 'QrRestored' },
  {
    kind: 'qr',
    version: 2,
    initial,
    personal,
    claim: { kind: 'qr', name: ({ alias }) => aliasKey(alias) },
  },
)
