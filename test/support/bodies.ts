import { randomUUID } from 'node:crypto'
import type { Kinds, OwnedKind } from '../../src/events/kinds.ts'

const long = 'https://example.com/'

/** The first words of the paths of what an account creates, changes and deletes. */
export type Path = Kinds[OwnedKind]['path'] | 'key'

/** Bodies that create and update each of these. */
const bodyOf: Readonly<Record<Path, readonly [add: () => object, update: object]>> = {
  url: [() => ({ url: long }), { url: long, title: 'y' }],
  domain: [() => ({ domain: `https://${randomUUID()}.example` }), { redirectroot: long }],
  pixel: [() => ({ type: 'bing', name: 'x', tag: 'abc' }), { tag: 'abcd' }],
  qr: [() => ({ type: 'text', data: 'x' }), { data: 'y' }],
  campaign: [() => ({ name: 'x' }), { name: 'y' }],
  channel: [() => ({ name: 'x' }), { name: 'y' }],
  splash: [() => ({ name: 'x' }), { name: 'y' }],
  overlay: [() => ({ type: 'message', name: 'x', message: 'x' }), { name: 'y' }],
  bio: [() => ({ name: 'x', links: [] }), { name: 'y' }],
  key: [() => ({ name: 'x', scopes: ['read'] }), { name: 'y' }],
  webhook: [() => ({ url: 'https://example.com/hook' }), { name: 'y', from: 0 }],
}
/** The same by any word. */
export const bodies: Readonly<Record<string, readonly [add: () => object, update: object]>> = bodyOf
