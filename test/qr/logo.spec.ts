import { expect } from 'chai'
import { encode } from 'jpeg-js'
import { readLogo } from '../../src/qr/logo.ts'
import { pictureProblem } from '../../src/qr/picture.ts'
import type { Raster } from '../../src/qr/raster.ts'
import { fitted, resize } from '../../src/qr/raster.ts'
import { randomFrom, repeatable, seed } from '../support/faults.ts'
import { chunk, rawPng } from '../support/png.ts'
import { noise, readPng } from '../support/qr.ts'

/** A progressive JPEG of 24 x 16 pixels, written by libjpeg: the left half is red, the right half blue. */
const progressive =
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wgARCAAQABgDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAABQAG/8QAFQEBAQAAAAAAAAAAAAAAAAAABwP/2gAMAwEAAhADEAAAAcgQuRJUHqfxD//EABYQAQEBAAAAAAAAAAAAAAAAAAQQAP/aAAgBAQABBQLPr5//xAAaEQAABwAAAAAAAAAAAAAAAAABAwYQNYGy/9oACAEDAQE/AVHFm1oG/8QAGhEAAAcAAAAAAAAAAAAAAAAAAQMGEDWCsv/aAAgBAgEBPwFLy5Nsi3//xAAXEAADAQAAAAAAAAAAAAAAAAACEIEA/9oACAEBAAY/AsFYVf/EABcQAAMBAAAAAAAAAAAAAAAAABCB8AD/2gAIAQEAAT8h1kbIf//aAAwDAQACAAMAAAAQr/8A/8QAFBEBAAAAAAAAAAAAAAAAAAAAEP/aAAgBAwEBPxA9/8QAFBEBAAAAAAAAAAAAAAAAAAAAEP/aAAgBAgEBPxA7/8QAFBABAAAAAAAAAAAAAAAAAAAAIP/aAAgBAQABPxBZn//Z'

const read = (bytes: Buffer) => readPng(readLogo(bytes))
const pixel = ({ width, data }: Raster, x: number, y: number) => [
  ...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4),
]
const near = (actual: readonly number[], expected: readonly number[], by = 12) =>
  expected.forEach((value, i) =>
    expect(actual[i], `${actual.join()} is not ${expected.join()}`).to.be.closeTo(value, by),
  )

describe(`a logo (${repeatable})`, () => {
  const random = randomFrom(seed)
  const rgba = (width: number, height: number) => noise(width, height, random)
  /** Returns the rows of a PNG, each with its filter byte in front. */
  const rows = (data: Uint8Array, stride: number) =>
    Buffer.concat(
      Array.from({ length: data.length / stride }, (_, y) =>
        Buffer.from([0, ...data.subarray(y * stride, (y + 1) * stride)]),
      ),
    )

  it('keeps the pixels of a PNG of at most 256 x 256', () => {
    const picture = rgba(37, 21)
    expect(read(rawPng({ width: 37, height: 21 }, rows(picture.data, 37 * 4)))).to.deep.include({
      width: 37,
      height: 21,
    })
    expect([...read(rawPng({ width: 37, height: 21 }, rows(picture.data, 37 * 4))).data]).to.deep.equal([
      ...picture.data,
    ])
  })

  it('accepts PNGs in grayscale, with a palette, with 1 to 16 bits, and with transparency', () => {
    const of = (color: number, depth: number, row: readonly number[], ...before: Buffer[]) =>
      read(rawPng({ width: 2, height: 1, color, depth }, Buffer.from([0, ...row]), ...before))
    const both = (picture: Raster) => [pixel(picture, 0, 0), pixel(picture, 1, 0)]
    const palette = [chunk('PLTE', Buffer.from([255, 0, 0, 0, 0, 255])), chunk('tRNS', Buffer.from([128]))]
    expect(both(of(0, 1, [0b01000000]))).to.deep.equal([
      [0, 0, 0, 255],
      [255, 255, 255, 255],
    ])
    expect(both(of(0, 16, [0x80, 0, 0xff, 0xff]))).to.deep.equal([
      [128, 128, 128, 255],
      [255, 255, 255, 255],
    ])
    expect(both(of(2, 8, [1, 2, 3, 4, 5, 6]))).to.deep.equal([
      [1, 2, 3, 255],
      [4, 5, 6, 255],
    ])
    expect(both(of(3, 2, [0b00010000], ...palette))).to.deep.equal([
      [255, 0, 0, 128],
      [0, 0, 255, 255],
    ])
    expect(both(of(4, 8, [9, 200, 8, 100]))).to.deep.equal([
      [9, 9, 9, 200],
      [8, 8, 8, 100],
    ])
  })

  it('accepts an interlaced PNG (Adam7)', () => {
    const picture = rgba(13, 11)
    const passes = [
      [0, 0, 8, 8],
      [4, 0, 8, 8],
      [0, 4, 4, 8],
      [2, 0, 4, 4],
      [0, 2, 2, 4],
      [1, 0, 2, 2],
      [0, 1, 1, 2],
    ] as const
    const raw: number[] = []
    for (const [x0, y0, dx, dy] of passes)
      for (let y = y0; y < 11; y += dy) {
        raw.push(0)
        for (let x = x0; x < 13; x += dx) raw.push(...pixel(picture, x, y))
      }
    expect([...read(rawPng({ width: 13, height: 11, interlaced: true }, Buffer.from(raw))).data]).to.deep.equal([
      ...picture.data,
    ])
  })

  it('accepts baseline and progressive JPEGs', () => {
    const halves = {
      width: 40,
      height: 40,
      data: Buffer.from(
        Array.from({ length: 1600 }, (_, i) => (i % 40 < 20 ? [220, 40, 30, 255] : [30, 40, 220, 255])).flat(),
      ),
    }
    for (const [bytes, x] of [
      [encode(halves, 90).data, 30],
      [Buffer.from(progressive, 'base64'), 20],
    ] as const) {
      const picture = read(bytes)
      near(pixel(picture, 2, 2), [220, 40, 30, 255])
      near(pixel(picture, x, 10), [30, 40, 220, 255])
    }
  })

  it('is scaled down to 256 x 256 with its aspect ratio kept', () => {
    const data = new Uint8Array(1024 * 512 * 4).map((_, i) => (i % 4 === 3 ? 255 : (i >> 2) % 2 ? 255 : 0))
    const picture = read(rawPng({ width: 1024, height: 512 }, rows(data, 1024 * 4)))
    expect(picture).to.include({ width: 256, height: 128 })
    near(pixel(picture, 100, 100), [128, 128, 128, 255], 2)
    expect(fitted({ width: 1000, height: 1 }, 256)).to.deep.equal({ width: 256, height: 1 })
  })

  it('keeps its mean color at any size, and ignores the color of transparent pixels', () => {
    const data = Uint8Array.from([10, 20, 30, 255, 250, 250, 250, 0])
    for (const width of [1, 2, 3, 5, 64]) {
      const { data: resized } = resize({ width: 2, height: 1, data }, width, 1)
      const opaque = Array.from({ length: width }, (_, x) => [...resized.subarray(x * 4, x * 4 + 4)]).filter(
        ([, , , a]) => a !== 0,
      )
      for (const [r, g, b] of opaque) expect([r, g, b]).to.deep.equal([10, 20, 30])
    }
  })

  it('is refused with the reason when it is damaged, too large or of another type', () => {
    const good = rawPng({ width: 4, height: 4 }, rows(rgba(4, 4).data, 16))
    const bad: readonly (readonly [Buffer, RegExp])[] = [
      [Buffer.from('GIF89a'), /must be a PNG or JPEG/],
      [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /must be a PNG or JPEG/],
      [Buffer.alloc(0), /must be a PNG or JPEG/],
      [good.subarray(0, 20), /not a readable/],
      [good.subarray(0, -20), /truncated/],
      [Buffer.concat([good.subarray(0, 60), Buffer.from([good[60]! ^ 1]), good.subarray(61)]), /checksum/],
      [rawPng({ width: 0, height: 4 }, Buffer.alloc(4)), /not a readable/],
      [rawPng({ width: 1025, height: 1 }, Buffer.alloc(1 + 1025 * 4)), /at most 1024 x 1024 pixels, not 1025 x 1/],
      [rawPng({ width: 4, height: 4, color: 5 }, Buffer.alloc(4)), /not a readable/],
      [rawPng({ width: 4, height: 4, color: 3 }, Buffer.alloc(4 * 5)), /not a readable/],
      [Buffer.from('ffd8ffd9', 'hex'), /not a readable/],
      [Buffer.from('ffd8ffe00002', 'hex'), /not a readable/],
      [Buffer.from(progressive, 'base64').subarray(0, 150), /not a readable/],
    ]
    for (const [bytes, problem] of bad)
      expect(() => readLogo(bytes), bytes.toString('hex').slice(0, 80)).to.throw(problem)
    expect(pictureProblem(good)).to.equal(undefined)
  })

  it('is either decoded or refused when any of its bytes are damaged', () => {
    const good = [rawPng({ width: 8, height: 8 }, rows(rgba(8, 8).data, 32)), Buffer.from(progressive, 'base64')]
    for (let n = 0; n < 400; n++) {
      const bytes = Buffer.from(good[n % 2]!)
      for (let k = 0; k <= random(4); k++) bytes[random(bytes.length)] = random(256)
      try {
        expect(read(bytes).width).to.be.within(1, 256)
      } catch (error) {
        expect((error as Error).message).to.match(/^`` (?:is|must) /)
      }
    }
  })
})
