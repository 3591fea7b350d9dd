import type { Visit } from '../../src/clicks/visit.ts'

export const route = { log: 'local', partitions: 4 }

/** The visit with this number (kept in `revision`, which the spool does not look at); `link` chooses the partition. */
export const visit = (number: number, link = number): Visit => ({
  at: new Date(Date.UTC(2026, 0, 1) + number).toISOString(),
  account: 1,
  link,
  revision: number,
  destination: 'https://example.com/ü',
  rule: 'link',
  source: { kind: 'link', id: link },
  address: '192.0.2.1',
  agent: 'Mozilla/5.0',
  referrer: '',
  languages: 'en',
  prefetch: false,
})

export const quiet = (): void => {}
