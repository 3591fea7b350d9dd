import { expect } from 'chai'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isFullDisk } from '../../src/lib/datadir.ts'
import { supervise } from '../../src/postgres/supervise.ts'

describe('an embedded PostgreSQL that does not start', () => {
  let home = ''
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'linkledger-supervise-'))
    for (const folder of ['data', 'socket', 'bin']) await mkdir(join(home, folder))
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  /** Returns why a PostgreSQL with this output does not start. */
  const failureOf = async (...lines: readonly string[]): Promise<unknown> => {
    const program = join(home, 'bin', 'postgres')
    await writeFile(program, `#!/bin/sh\ncat >&2 <<'END'\n${lines.join('\n')}\nEND\nexit 1\n`)
    await chmod(program, 0o755)
    const cluster = { home, bin: join(home, 'bin'), account: undefined, buffers: 16 }
    return supervise(
      cluster,
      () => {},
      () => {},
    ).catch((error: unknown) => error)
  }
  const last = ['LOG:  shutting down due to startup process failure', 'LOG:  database system is shut down']

  it('reports the reason, also when other lines follow it', async () => {
    const corrupt = 'PANIC:  could not locate a valid checkpoint record'
    expect(String(await failureOf('LOG:  starting PostgreSQL', corrupt, ...last))).to.include(corrupt)
    expect(String(await failureOf(...last))).to.include(last[1])
    const full = 'FATAL:  could not write to file "pg_wal/xlogtemp.7": No space left on device'
    const shown = await failureOf(full, 'FATAL:  the database system is shutting down', ...last)
    expect(String(shown)).to.include(full)
    expect(isFullDisk(shown)).to.equal(true)
  })

  it('has a full disk, or a quota that is used up, for a reason that is no error of its own', async () => {
    const full = 'LOG:  could not write temporary statistics file: Disk quota exceeded'
    expect(isFullDisk(await failureOf(full, 'FATAL:  the startup process ended', ...last))).to.equal(true)
  })
})
