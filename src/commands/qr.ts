import type { QrFields, QrPersonal } from '../events/qr.ts'
import { owned } from './owned.ts'

/** QR codes have aliases of their own, below `/qr/`. */
export const qr = owned<'Qr', QrFields, QrPersonal>('Qr', {
  label: 'QR code',
  initial: { type: 'text', alias: '', foreground: '#000000', background: '#ffffff', logo: null, name: '', data: '' },
  claim: { kind: 'qr', name: ({ alias }) => alias.toLowerCase() },
  personal: ['name', 'data'],
})
