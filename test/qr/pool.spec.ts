import { expect } from 'chai'
import { openImages } from '../../src/qr/images.ts'
import type { Drawing } from '../../src/qr/draw.ts'
import { Busy, openPool, type Pool, Unanswered } from '../../src/qr/pool.ts'
import type { Done, Task } from '../../src/qr/worker.ts'
import { slowJpeg } from '../support/jpeg.ts'
import { scanPng } from '../support/qr.ts'

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

describe('the workers that draw and decode', () => {
  let pool: Pool | undefined
  afterEach(async () => {
    await pool?.close()
    pool = undefined
  })

  it('carry out more tasks than they are, each once', async () => {
    pool = openPool({ size: 2, patience: 5000 })
    const texts = Array.from({ length: 12 }, (_, n) => `text ${n}`)
    const all = await Promise.all(texts.map((text) => pool!.run({ type: 'draw', drawing: { ...drawing, text } })))
    expect(all.map((done) => 'bytes' in done && scanPng(done.bytes))).to.deep.equal(texts)
  })

  it('tell what is wrong with a picture', async () => {
    pool = openPool({ size: 1, patience: 5000 })
    expect(await pool.run({ type: 'logo', bytes: Buffer.from('no picture') })).to.deep.equal({
      problem: 'must be a PNG or JPEG image',
    })
  })

  it('are killed over a task that takes too long, and others take their place', async () => {
    pool = openPool({ size: 1, patience: 400 })
    const endless: Task = { type: 'logo', bytes: slowJpeg(40_000) }
    const [first, second, third] = await Promise.all([endless, endless, task].map((one) => outcome(pool!.run(one))))
    for (const error of [first, second])
      expect(error)
        .to.be.instanceOf(Unanswered)
        .with.property('message')
        .that.matches(/took more than 400 ms/)
    expect(third).to.equal('done')
  })

  it('let so many tasks wait, and no more', async () => {
    pool = openPool({ size: 1, patience: 5000, queue: 3 })
    const all = await Promise.all(Array.from({ length: 5 }, () => outcome(pool!.run(task))))
    expect(all.filter((one) => one === 'done')).to.have.length(3)
    expect(all.filter((one) => one instanceof Busy)).to.have.length(2)
  })

  it('leave nobody waiting when they are closed', async () => {
    pool = openPool({ size: 1, patience: 5000 })
    const waiting = Array.from({ length: 3 }, () => outcome(pool!.run(task)))
    await pool.close()
    for (const one of await Promise.all(waiting)) expect(one).to.be.instanceOf(Error)
    expect(await outcome(pool.run(task))).to.be.instanceOf(Busy)
  })
})

describe('images', () => {
  /** Counts what it is asked; answers so many bytes. */
  const counting = (bytes: number) => {
    const asked: Task[] = []
    const run = async (one: Task): Promise<Done> => {
      asked.push(one)
      return { bytes: new Uint8Array(bytes) }
    }
    return { asked, run, close: async () => {} }
  }
  const text = (n: number): Drawing => ({ ...drawing, text: String(n) })

  it('are drawn once for all who ask, now or later', async () => {
    const drawers = counting(10)
    const images = openImages(drawers, counting(0))
    await Promise.all([images.draw(text(1)), images.draw(text(1)), images.draw(text(2))])
    await images.draw(text(1))
    expect(drawers.asked).to.have.length(2)
  })

  it('are remembered up to 32 MiB: those last asked for', async () => {
    const drawers = counting(8 * 1024 * 1024)
    const images = openImages(drawers, counting(0))
    for (const n of [1, 2, 3, 4, 1, 5, 1]) await images.draw(text(n))
    expect(drawers.asked).to.have.length(5)
    await images.draw(text(2))
    expect(drawers.asked).to.have.length(6)
  })

  it('that could not be drawn are drawn when they are asked for again', async () => {
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
