import { expect } from 'chai'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../../support/client.ts'
import {
  addAll,
  lastOf,
  newestIn,
  numbersOf,
  range,
  segmentsIn,
  sequenceOf,
  take,
  useSpoolFolder,
  ways,
} from './harness.ts'
import { visit } from './visits.ts'

for (const way of ways)
  describe(`a damaged record in a spool ${way.where}`, () => {
    const { dir, open, readOut } = useSpoolFolder(way)

    it('is copied to quarantine, and all other records are delivered', async () => {
      const spool = await open({ segmentBytes: 4000 })
      for (const number of range(0, 60)) await spool.add(visit(number))
      await spool.close()
      const [, middle = ''] = await segmentsIn(dir())
      const bytes = await readFile(join(dir(), middle))
      const at = bytes.indexOf('"revision"', 1500) + 1
      bytes[at] = 64
      await writeFile(join(dir(), middle), bytes)

      const entries = await readOut()
      const numbers = numbersOf(entries)
      const [missing = -1, ...others] = range(0, 60).filter((number) => !numbers.includes(number))
      expect(others).to.deep.equal([])
      expect(numbers).to.deep.equal(range(0, 60).filter((number) => number !== missing))
      expect(sequenceOf(entries, missing % 4)).to.deep.equal(
        range(1, 16).filter((seq) => seq !== Math.floor(missing / 4) + 1),
      )
      const copy = (await readFile(join(dir(), 'quarantine'), 'latin1')).trim().split(' ')
      expect(copy[0]).to.equal(middle)
      expect(Buffer.from(copy[2] ?? '', 'base64').toString()).to.include(`@evision":${missing}`)

      const warnings: string[] = []
      const again = await open({ log: (_, message) => void warnings.push(message) })
      const [earlier] = again.earlier
      expect(numbersOf(await take(earlier!))).to.deep.equal(numbers)
      expect(again.stats().quarantined, 'copied once').to.equal(1)
      expect(warnings).to.deep.equal([])
      await earlier?.release(lastOf(entries))
      expect(await segmentsIn(dir()), 'a damaged segment can be released').to.have.length(2)
    })

    it('is copied to quarantine as it is, also when its reader is the first to find it', async () => {
      const spool = await open()
      await addAll(spool, range(0, 8))
      await take(spool, 8)
      const newest = await newestIn(dir())
      await writeFile(newest, (await readFile(newest, 'utf8')).replace('"revision":5', '"revision":?'))
      expect(numbersOf(await take(spool, 7))).to.deep.equal([0, 1, 2, 3, 4, 6, 7])
      const copied = await until(
        () => readFile(join(dir(), 'quarantine'), 'latin1').catch(() => ''),
        (text) => text.endsWith('\n'),
      )
      expect(Buffer.from(copied.trim().split(' ')[2] ?? '', 'base64').toString()).to.include('"revision":?')
    })

    it('keeps its place in quarantine when later segments are damaged, too', async () => {
      for (const round of [1, 2]) {
        const spool = await open()
        expect(spool.stats().quarantined).to.equal(round - 1)
        await addAll(spool, range(0, 10))
        await spool.close()
        const newest = await newestIn(dir())
        await writeFile(newest, (await readFile(newest, 'utf8')).replace('"revision":5', '"revision":?'))
        await readOut()
        for (const name of await segmentsIn(dir())) await rm(join(dir(), name))
      }
      expect((await readFile(join(dir(), 'quarantine'), 'latin1')).trim().split('\n')).to.have.length(2)
    })

    it('does not cause a number to be used twice, even when its partition is unreadable', async () => {
      const spool = await open()
      await addAll(spool, [0, 1, 2, 3, 4, 8, 12])
      await spool.close()
      const newest = await newestIn(dir())
      const text = await readFile(newest, 'utf8')
      await writeFile(newest, text.replace('"partition":3,"seq":1', '"partition":?,"seq":?'))

      const again = await open()
      await addAll(again, range(20, 28))
      const entries = await take(again, 8)
      expect(again.id).not.to.equal(spool.id)
      expect(numbersOf(entries)).to.deep.equal(range(20, 28))
      expect(sequenceOf(entries, 3)).to.deep.equal([1, 2])
      const [earlier] = again.earlier
      expect(numbersOf(await take(earlier!))).to.deep.equal([0, 1, 2, 4, 8, 12])
      await earlier?.remove()
      expect(await segmentsIn(dir())).to.have.length(1)
    })
  })
