import { expect } from 'chai'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What compares with a time that something else has written, or that is shown to people. */
const withStoredTimes: ReadonlySet<string> = new Set([
  'app/blocklists.ts',
  'app/countries.ts',
  'app/health/lag.ts',
  'app/health/outages.ts',
  'app/jobs/webhooks/deliver.ts',
  'app/jobs/webhooks/send.ts',
  'app/log/diskerasure.ts',
  'clicks/kafka/tracker.ts',
  'http/accounts/flow.ts',
  'http/accounts/passkey/ceremony.ts',
  'http/public/password/page.ts',
  'security/sessions.ts',
  'store/eventstoredb/append.ts',
  'store/eventstoredb/calls.ts',
  'store/eventstoredb/read.ts',
])

describe('how long something takes', () => {
  it('is measured by a monotonic clock: a timer must not wait an hour when the system clock is set back', async () => {
    const src = join(import.meta.dirname, '../../src')
    const found: string[] = []
    for (const entry of await readdir(src, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (!entry.isFile() || !path.endsWith('.ts') || path.includes('/web/')) continue
      // a difference, a comparison, or a deadline of ms
      if (/Date\.now\(\) (?:[-<>]|\+ \w*(?:Ms|longest)\b)/.test(await readFile(path, 'utf8')))
        found.push(path.slice(src.length + 1))
    }
    expect(found.filter((path) => !withStoredTimes.has(path))).to.deep.equal([])
  })
})
