import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startBlockListUrl } from '../../../src/app/jobs/blocklisturl.ts'
import { emptyBlockList } from '../../../src/lib/blocklist.ts'
import { openDownload } from '../../../src/lib/fetch.ts'
import { problem } from '../../../src/lib/problems/problem.ts'
import { until } from '../../support/client.ts'
import { startStub, type Stub } from '../../support/stub.ts'

describe('a public list of blocked hosts', () => {
  let dir: string
  let stub: Stub
  let answer: (req: IncomingMessage, res: ServerResponse) => unknown
  let asked: IncomingMessage[] = []
  const stops: (() => Promise<void>)[] = []
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-blocklist-'))
    stub = await startStub((req, res) => {
      asked.push(req)
      answer(req, res)
    })
  })
  beforeEach(() => (asked = []))
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })
  after(async () => {
    await stub.close()
    await rm(dir, { recursive: true })
  })

  const start = async (file: string, age = 3_600_000) => {
    let list = emptyBlockList
    const problems: string[] = []
    const fetched: Date[] = []
    const stop = await startBlockListUrl({
      url: `http://lists.example:${stub.port}/hosts`,
      headers: { 'Auth-Key': 'a key' },
      file: join(dir, file),
      download: openDownload({ resolve: async () => ['127.0.0.1'], denied: () => false, ports: [stub.port] }),
      onRead: (now) => (list = now.list),
      onFetched: (moment) => fetched.push(moment),
      onProblem: (problem) => problems.push(problem),
      every: 5,
      age,
    })
    stops.push(stop)
    return { problems, fetched, blocks: (host: string) => list.find(new URL(`https://${host}/`)) !== undefined }
  }
  const serve = (text: string) => (answer = (_, res) => res.setHeader('ETag', '"one"').end(text))

  it('is kept across a restart, and not downloaded again while it is the same', async () => {
    serve('0.0.0.0 evil.example\n')
    const first = await start('kept')
    await until(async () => first.blocks('evil.example'), Boolean)
    await stops.pop()?.()
    expect(await readFile(join(dir, 'kept'), 'utf8')).to.include('evil.example')
    expect(asked.map(({ headers }) => headers['auth-key'])).to.deep.equal(['a key'])

    answer = (req, res) => res.writeHead(req.headers['if-none-match'] === '"one"' ? 304 : 500).end()
    const second = await start('kept', 0)
    expect(second.blocks('evil.example')).to.equal(true)
    await until(
      async () => asked.length,
      (n) => n > 3,
    )
    await stops.pop()?.()
    expect(second.problems).to.deep.equal([])
    // the age is that of the list which is kept, until the server says that it is still the same
    expect(second.fetched[0]).to.deep.equal(first.fetched[0])
    expect(second.fetched.length).to.be.above(2)
    expect(await readFile(join(dir, 'kept'), 'utf8')).to.include('evil.example')
  })

  it('is fetched completely when its file is gone, and is missing when the server says that it has not changed', async () => {
    answer = (_, res) => res.writeHead(304).end()
    const { blocks, problems, fetched } = await start('gone', 0)
    await until(async () => problems.length, Boolean)
    expect([problems[0], fetched]).to.deep.equal([
      'BLOCKLIST_URL could not be fetched: its server responded with status 304',
      [],
    ])
    serve('evil.example\n')
    const kept = () => readFile(join(dir, 'gone'), 'utf8').catch(() => '')
    await until(kept, (text) => text.includes('evil.example'))
    answer = (req, res) => (req.headers['if-none-match'] ? res.writeHead(304).end() : res.end('bad.example\n'))
    // a run that has read the file before writes it again
    const removed = () => rm(join(dir, 'gone'), { force: true }).then(() => blocks('bad.example'))
    await until(removed, Boolean)
    await until(kept, (text) => text.includes('bad.example'))
  })

  it('stays in force while it cannot be fetched, or is no list any more', async () => {
    serve('evil.example\n')
    const { blocks, problems } = await start('failing', 0)
    await until(async () => blocks('evil.example'), Boolean)
    const failures: readonly [answer: typeof answer, problem: string][] = [
      [(_, res) => res.writeHead(500).end(), 'responded with status 500'],
      [(_, res) => res.writeHead(302, { Location: 'http://127.0.0.1/' }).end(), 'must not redirect'],
      [(_, res) => res.end('<!doctype html>\n<p>This list has moved.</p>\n'), 'must be a list of hosts'],
      [(_, res) => res.end(''), 'must be a list of hosts'],
      [(_, res) => res.end(Buffer.alloc(33 * 1024 * 1024, 10)), 'must be at most 32 MiB large'],
      [(_, res) => res.destroy(), 'could not be reached'],
    ]
    for (const [failure, problem] of failures) {
      answer = failure
      problems.length = 0
      await until(async () => problems.some((one) => one.includes(problem)), Boolean)
      expect(problems.join(), problem).to.include(problem)
      expect(blocks('evil.example'), problem).to.equal(true)
    }
    serve('bad.example\n')
    await until(async () => blocks('bad.example'), Boolean)
    expect(blocks('evil.example')).to.equal(false)
  })

  it('is not fetched from an internal address', async () => {
    const found = await openDownload()('http://127.0.0.1/hosts', {})
    expect(found).to.deep.equal({ ok: false, problem: problem('wrong_address', { what: 'private' }) })
  })
})
