import { expect } from 'chai'
import { codeOf } from '../../src/qr/code.ts'
import { contrast } from '../../src/qr/color.ts'
import { draw, type Drawing } from '../../src/qr/draw.ts'
import { pngOf } from '../../src/qr/logo.ts'
import { long, randomFrom, repeatable, seed } from '../support/faults.ts'
import { noise, readPng, scanPng, scanSvg, sizeOfPng } from '../support/qr.ts'

const plain: Drawing = {
  text: 'https://go.example/qr/abcdefgh/go',
  foreground: '#000000',
  background: '#ffffff',
  logo: null,
  format: 'png',
  size: 512,
}
const png = (wish: Partial<Drawing> = {}) => draw({ ...plain, ...wish })
const svg = (wish: Partial<Drawing> = {}) => draw({ ...plain, ...wish, format: 'svg' }).toString()

describe(`the image of a QR code (${repeatable})`, () => {
  const random = randomFrom(seed)
  const text = (bytes: number) => Array.from({ length: bytes }, () => String.fromCharCode(33 + random(94))).join('')
  const logo = pngOf(noise(256, 256, random)).toString('base64')

  it('is read by a scanner at every length and size, with and without a logo', () => {
    for (const bytes of long ? [1, 7, 60, 333, 1200] : [1, 60, 1200])
      for (const size of long ? [64, 300, 1024] : [64, 600])
        for (const wish of [{}, { logo }]) {
          const content = text(bytes)
          expect(scanPng(png({ text: content, size, ...wish })), `${bytes} bytes, ${size} pixels`).to.equal(content)
        }
  })

  it('is read by a scanner as SVG, too', () => {
    for (const bytes of [1, 60, 1200])
      for (const wish of [{}, { logo }]) {
        const content = text(bytes)
        expect(scanSvg(svg({ text: content, ...wish })), `${bytes} bytes`).to.equal(content)
      }
  })

  it('is read as the encoded text in every script, also when the text looks like segments', () => {
    for (const content of [
      'Grüße aus Köln',
      '世界 😀',
      '0123456789',
      'HTTP://EXAMPLE.COM/A1',
      '[{"data":"x","mode":"byte"}]',
      ' ',
    ])
      expect(scanPng(png({ text: content }))).to.equal(content)
  })

  it('is read in every pair of colors with a contrast of 4.5:1 or more', () => {
    const hex = () =>
      `#${random(2 ** 24)
        .toString(16)
        .padStart(6, '0')}`
    for (let n = 0; n < (long ? 300 : 20);) {
      const [foreground, background] = [hex(), hex()].toSorted(
        (a, b) => contrast(a, '#000000') - contrast(b, '#000000'),
      )
      if (contrast(foreground!, background!) < 4.5) continue
      n++
      const wish = { foreground: foreground!, background: background!, size: 200 }
      expect(scanPng(png(wish)), `${foreground} on ${background}`).to.equal(plain.text)
      expect(svg(wish)).to.include(`fill="${background}"`).and.include(`fill="${foreground}"`)
    }
  })

  it('has the requested size, but at least one pixel per module', () => {
    for (const size of [64, 65, 511, 2048])
      expect(sizeOfPng(png({ size }))).to.deep.equal({ width: size, height: size })
    const { size } = codeOf(text(1200), true)
    expect(readPng(png({ text: text(1200), size: 64, logo }))).to.include({ width: size + 8, height: size + 8 })
    expect(svg({ size: 2048 })).to.include('width="2048" height="2048"')
  })

  it('has a quiet zone of four modules', () => {
    const { width, data } = readPng(png({ size: 33 * 10 }))
    const dark = Array.from({ length: width * width }, (_, i) => i).filter((i) => data[i * 4] === 0)
    const [xs, ys] = [dark.map((i) => i % width), dark.map((i) => Math.floor(i / width))]
    const modules = codeOf(plain.text, false).size
    const scale = Math.floor(width / (modules + 8))
    for (const at of [xs, ys]) {
      expect(Math.min(...at)).to.be.at.least(4 * scale)
      expect(Math.max(...at)).to.be.below(width - 4 * scale)
    }
  })

  it('shows the logo in the middle, with its aspect ratio and transparency, on the background color', () => {
    const red = (alpha: number) =>
      pngOf({
        width: 20,
        height: 10,
        data: Uint8Array.from({ length: 800 }, (_, i) => [255, 0, 0, alpha][i % 4]!),
      }).toString('base64')
    const pixel = (wish: Partial<Drawing>, x: number, y: number) => {
      const { width, data } = readPng(png({ background: '#ffff80', ...wish }))
      return [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)]
    }
    expect(pixel({ logo: red(255) }, 256, 256)).to.deep.equal([255, 0, 0])
    expect(pixel({ logo: red(0) }, 256, 256)).to.deep.equal([255, 255, 128])
    expect(pixel({ logo: red(128) }, 256, 256)).to.deep.equal([255, 127, 64])
    // the logo is twice as wide as high, so the free square shows above it
    expect(pixel({ logo: red(255) }, 256, 256 - 35)).to.deep.equal([255, 255, 128])
  })

  it('is the same for the same input', () => {
    expect(png({ logo }).equals(png({ logo }))).to.equal(true)
  })
})
