import { expect } from 'chai'
import type { TestApp } from './app.ts'
import { until } from './client.ts'
import type { Line } from './logger.ts'

const texts = (lines: readonly Line[]) => lines.map(({ msg }) => msg)

/** Sends requests that fail during the outage of an engine. Expects 503 with `Retry-After`, and few lines in the log. */
export const expectOutage = async (
  app: TestApp,
  key: string,
  lines: readonly Line[],
  engine: string,
  { begin, end }: { readonly begin: () => unknown; readonly end: () => unknown },
) => {
  const before = lines.length
  await begin()
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: `away-${round}-${n}` } }),
      ),
    )
    for (const { status, headers } of answers) {
      expect(status).to.equal(503)
      expect(headers.has('Retry-After')).to.equal(true)
    }
  }
  for (let n = 0; n < 3; n++) {
    const body = { rows: [{ url: 'https://example.com/1' }, { url: 'https://example.com/2' }] }
    expect((await app.post('/api/urls/bulk?op=create', { key, body })).status).to.equal(503)
  }
  await end()
  const over = `${engine} works again`
  await until(async () => texts(lines).includes(over), Boolean, 60_000)
  const logged = lines.slice(before)
  const ours = logged.filter(({ msg }) => msg.startsWith(engine))
  expect(ours[0]?.msg).to.include('further failures are counted')
  expect(ours.at(-1)).to.have.property('failures').that.is.at.least(100)
  expect(logged.length, texts(logged).join('\n')).to.be.below(20)
  expect(texts(logged)).to.not.include('request failed')
}
