import { expect } from 'chai'
import { openBlocks } from '../../src/cache/blocks.ts'
import { openDomains } from '../../src/cache/domains.ts'
import { openTargets } from '../../src/cache/targets.ts'
import { createInvalidation } from '../../src/cache/invalidation.ts'
import type { Reader } from '../../src/queries/reader.ts'

/**
 * Returns a reader that answers every query with these rows. Every query fails while `fails` returns true.
 */
const readerOf = (rows: Readonly<Record<string, readonly object[]>>, fails: () => boolean) => {
  const queryOf = (found: readonly object[]): object =>
    new Proxy(
      {},
      {
        get: (_, name) =>
          name === 'then'
            ? (resolve: (rows: object) => void, reject: (error: Error) => void) =>
                fails() ? reject(new Error('the database does not answer')) : resolve(found)
            : () => queryOf(found),
      },
    )
  const rowsOf = (table: string) => queryOf(rows[table] ?? [])
  const from = (table: string | Record<string, string>) =>
    rowsOf(typeof table === 'string' ? table : (Object.values(table)[0] ?? ''))
  const db = Object.assign(from, {
    raw: () => queryOf(Object.assign([], { rows: [] })),
  })
  return { db, table: (name: string) => name } as unknown as Reader
}

describe('the domains and blocks in the memory of a process', () => {
  it('has a block that was made while the database did not answer', async () => {
    let fails = false
    const blocked: object[] = []
    const blocks = openBlocks()
    const { warm, invalidate, retry } = createInvalidation({
      reader: readerOf({ blocks: blocked }, () => fails),
      targets: openTargets({ find: () => Promise.resolve(undefined), trusted: () => true, shows: () => true }),
      domains: openDomains(),
      blocks,
      access: { forget: () => {}, forgetAll: () => {} },
      onAccounts: () => {},
      onErased: () => Promise.resolve(),
    })
    await warm()
    const isBlocked = () => blocks.destination('https://evil.example/') !== undefined
    blocked.push({ kind: 'host', value: 'evil.example', reason: 'phishing', position: '5' })
    fails = true
    await invalidate(4n, 5n)
    await retry().catch(() => {})
    expect(isBlocked()).to.equal(false)
    fails = false
    // nothing that changes later is about the block
    await invalidate(5n, 6n)
    expect(isBlocked()).to.equal(false)
    await retry()
    expect(isBlocked()).to.equal(true)
  })
})
