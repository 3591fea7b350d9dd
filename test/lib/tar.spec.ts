import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { tarEnd, tarFile } from '../../src/lib/tar.ts'
import { skip } from '../support/skip.ts'
import { untar } from '../support/tar.ts'

describe('a tar archive', () => {
  const modified = new Date('2026-05-04T03:02:01Z')
  const contents = new Map([
    ['README.txt', 'über'],
    ['empty', ''],
    ['folder/000001.ndjson', 'x'.repeat(512)],
    ['folder/000002.ndjson', 'y'.repeat(100_000)],
  ])
  const made = Buffer.concat([
    ...[...contents].map(([name, text]) => tarFile({ name, content: Buffer.from(text), modified })),
    tarEnd,
  ])

  it('has all files, in whole blocks', () => {
    expect(made.length % 512).to.equal(0)
    expect([...untar(made)]).to.deep.equal([...contents])
  })

  it('is read by the tar of the system', function () {
    const { status, stdout, error } = spawnSync('tar', ['-xOf', '-', '--', ...contents.keys()], { input: made })
    if (error) skip(this, 'there is no tar', 'install tar')
    expect(status).to.equal(0)
    expect(stdout.toString()).to.equal([...contents.values()].join(''))
  })

  it('refuses names that its headers cannot have', () => {
    for (const name of ['', 'ü', 'a b', 'x'.repeat(101)])
      expect(() => tarFile({ name, content: Buffer.alloc(0), modified }), name).to.throw(RangeError)
  })
})
