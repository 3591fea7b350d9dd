import { expect } from 'chai'
import { LogoMissing, openImages } from '../../src/qr/images.ts'
import type { Drawing } from '../../src/qr/draw.ts'
import { Busy, openPool, type Pool, WorkerLost } from '../../src/qr/pool.ts'
import type { Done, Task } from '../../src/qr/worker.ts'
import { slowJpeg } from '../support/jpeg.ts'
import { scanPng } from '../support/qr.ts'
import { problem } from '../../src/lib/problems/problem.ts'

const drawing: Drawing = {
  text: 'hello',
  foreground: '#000000',
  background: '#ffffff',
  logo: null,
  format: 'png',
  size: 256,
}
const task: Task = { type: 'draw', drawing }
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) => error,
  )

describe('a pool of drawing workers', () => {
  let pool: Pool | undefined
  afterEach(async () => {
    await pool?.close()
    pool = undefined
  })

  it('runs more tasks than it has workers, each exactly once', async () => {
    pool = openPool({ size: 2, timeoutMs: 5000 })
    const texts = Array.from({ length: 12 }, (_, n) => `text ${n}`)
    const all = await Promise.all(texts.map((text) => pool!.run({ type: 'draw', drawing: { ...drawing, text } })))
    expect(all.map((done) => 'bytes' in done && scanPng(done.bytes))).to.deep.equal(texts)
  })

  it('returns the reason when a picture is invalid', async () => {
    pool = openPool({ size: 1, timeoutMs: 5000 })
    expect(await pool.run({ type: 'logo', bytes: Buffer.from('no picture') })).to.deep.equal({
      problem: problem('bad_picture', { what: 'type' }),
    })
  })

  it('kills a worker whose task exceeds the time limit, and starts another one', async () => {
    pool = openPool({ size: 1, timeoutMs: 400 })
    const endless: Task = { type: 'logo', bytes: slowJpeg(40_000) }
    // a slow machine may need longer than the limit to draw
    const quick: Task = { type: 'logo', bytes: Buffer.from('no picture') }
    const [first, second, third] = await Promise.all([endless, endless, quick].map((one) => outcome(pool!.run(one))))
    for (const error of [first, second])
      expect(error)
        .to.be.instanceOf(WorkerLost)
        .with.property('message')
        .that.matches(/took more than 400 ms/)
    expect(third).to.equal('done')
  })

  it('lets sources take turns, and rejects only the tasks of one that has too many', async () => {
    pool = openPool({ size: 1, timeoutMs: 5000, queue: 20, perSource: 5 })
    const done: string[] = []
    const ask = (source: string) =>
      outcome(pool!.run(task, source)).then(
        (result) => void done.push(result === 'done' ? source : `${source} refused`),
      )
    await Promise.all(['many', 'many', 'many', 'many', 'many', 'many', 'many', 'few', 'few', 'one'].map(ask))
    const drawn = done.filter((source) => !source.includes('refused'))
    expect(done.filter((source) => source === 'many refused').length).to.be.within(1, 2)
    expect(drawn.indexOf('one'), drawn.join()).to.be.below(4)
    expect(drawn.lastIndexOf('few'), drawn.join()).to.be.below(7)
  })

  it('rejects a task when the queue is full', async () => {
    pool = openPool({ size: 1, timeoutMs: 5000, queue: 3 })
    const all = await Promise.all(Array.from({ length: 5 }, () => outcome(pool!.run(task))))
    expect(all.filter((one) => one === 'done')).to.have.length(3)
    expect(all.filter((one) => one instanceof Busy)).to.have.length(2)
  })

  it('decodes the picture of an account that comes while another one sends many', async () => {
    const images = openImages(openPool({ size: 1, timeoutMs: 5000 }))
    try {
      const many = Array.from({ length: 60 }, () => outcome(images.logo(slowJpeg(1), '1')))
      const other = outcome(images.logo(slowJpeg(1), '2'))
      expect(await other).to.equal('done')
      const outcomes = await Promise.all(many)
      expect(outcomes.filter((one) => one === 'done').length).to.be.below(6)
      expect(outcomes.filter((one) => one instanceof Busy).length).to.be.above(50)
    } finally {
      await images.close()
    }
  })

  it('rejects all waiting and later tasks once it is closed', async () => {
    pool = openPool({ size: 1, timeoutMs: 5000 })
    const waiting = Array.from({ length: 3 }, () => outcome(pool!.run(task)))
    await pool.close()
    for (const one of await Promise.all(waiting)) expect(one).to.be.instanceOf(Error)
    expect(await outcome(pool.run(task))).to.be.instanceOf(Busy)
  })
})

describe('the image cache', () => {
  /** Returns a pool that keeps its tasks and returns the given number of bytes for each. */
  const counting = (bytes: number) => {
    const tasks: Task[] = []
    const run = async (one: Task): Promise<Done> => {
      tasks.push(one)
      return { bytes: new Uint8Array(bytes) }
    }
    return { tasks, run, close: async () => {} }
  }
  const text = (n: number): Drawing => ({ ...drawing, text: String(n) })

  it('draws an image once for concurrent and later requests', async () => {
    const drawers = counting(10)
    const images = openImages(drawers, counting(0))
    await Promise.all([images.draw(text(1)), images.draw(text(1)), images.draw(text(2))])
    await images.draw(text(1))
    expect(drawers.tasks).to.have.length(2)
  })

  it('reads a logo only for an image that it has to draw', async () => {
    const drawers = counting(10)
    const images = openImages(drawers, counting(0))
    let reads = 0
    const findLogo = async () => {
      reads++
      return Buffer.from('logo')
    }
    const named = { ...drawing, logo: null, logoKey: 'abc' }
    await Promise.all([images.draw(named, findLogo), images.draw(named, findLogo)])
    await images.draw(named, findLogo)
    expect(reads).to.equal(1)
    const { logoKey: _, ...drawn } = { ...named, logo: Buffer.from('logo').toString('base64') }
    expect(drawers.tasks).to.deep.equal([{ type: 'draw', drawing: drawn }])
    const missing = images.draw({ ...named, logoKey: 'def' }, async () => undefined)
    expect(await outcome(missing)).to.be.instanceOf(LogoMissing)
  })

  it('keeps at most 32 MiB of the most recently used images', async () => {
    const drawers = counting(8 * 1024 * 1024)
    const images = openImages(drawers, counting(0))
    for (const n of [1, 2, 3, 4, 1, 5, 1]) await images.draw(text(n))
    expect(drawers.tasks).to.have.length(5)
    await images.draw(text(2))
    expect(drawers.tasks).to.have.length(6)
  })

  it('draws an image again after a failure', async () => {
    let broken = true
    const drawers = {
      run: async () => (broken ? Promise.reject(new Busy('full')) : { bytes: new Uint8Array(1) }),
      close: async () => {},
    }
    const images = openImages(drawers, counting(0))
    expect(await outcome(images.draw(text(1)))).to.be.instanceOf(Busy)
    broken = false
    expect(await images.draw(text(1))).to.have.length(1)
  })
})
