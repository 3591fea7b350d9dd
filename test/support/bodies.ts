import { randomUUID } from 'node:crypto'

const long = 'https://example.com/'

/** Bodies that create and update each resource, by the first word of its paths. */
export const bodies: Record<string, readonly [add: () => object, update: object]> = {
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
