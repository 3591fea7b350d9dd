import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openFetch } from '../../src/lib/fetch.ts'
import { createLookup } from '../../src/lib/lookup.ts'
import { problem } from '../../src/lib/problems/problem.ts'

describe('the lookup of a host', () => {
  let silent: Socket
  let dir: string
  let hostsFile: string
  let asked = 0
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'linkledger-hosts-'))
    hostsFile = join(dir, 'hosts')
    await writeFile(
      hostsFile,
      '127.0.0.1 localhost\n# 9.9.9.9 gone.example\n8.8.4.4\tA.example b.example # both\n::1 b.example\n',
    )
    silent = createSocket('udp4').bind(0, '127.0.0.1')
    silent.on('message', () => asked++)
    await once(silent, 'listening')
  })
  after(async () => {
    silent.close()
    await rm(dir, { recursive: true, force: true })
  })
  const lookup = () => createLookup({ servers: [`127.0.0.1:${silent.address().port}`], hostsFile })

  it('ends when its request ends, although DNS is silent, and keeps no thread', async () => {
    const controller = new AbortController()
    const found = lookup()('slow.example', controller.signal).catch((error: unknown) => error)
    while (asked === 0) await new Promise((done) => setTimeout(done, 5))
    controller.abort()
    expect(await found).to.have.property('code', 'ECANCELLED')
  })

  it('finds the names of the hosts file first, as programs of the system do', async () => {
    const before = asked
    const { signal } = new AbortController()
    expect(await lookup()('a.example.', signal)).to.deep.equal(['8.8.4.4'])
    expect(await lookup()('B.example', signal)).to.deep.equal(['8.8.4.4', '::1'])
    expect(asked).to.equal(before)
  })

  it('leaves an internal address of the hosts file refused', async () => {
    const fetch = openFetch({ resolve: lookup() })
    for (const host of ['localhost', 'b.example'])
      expect(await fetch(`http://${host}/`)).to.deep.equal({
        ok: false,
        problem: problem('wrong_address', { what: 'private' }),
      })
  })
})
