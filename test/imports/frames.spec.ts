import { expect } from 'chai'
import { type Frame, frames } from '../../src/imports/formats/frames.ts'

const comma = 0x2c
const blocksOf = async function* (text: string) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}
const read = async (text: string) => {
  const found: Frame[] = []
  let looks = 0
  for await (const frame of frames(blocksOf(text), comma, (bytes) => (looks += bytes))) found.push(frame)
  const [first] = found
  return { found, looks, first }
}

describe('records of a table', () => {
  it('of which none ends are read with two looks at each byte', async () => {
    const line = 'x","\n'
    const lines = 400_000
    const { found, looks, first } = await read(`url,alias\n${line.repeat(lines)}`)
    expect(looks).to.be.below(2.2 * line.length * lines)
    expect(first!.bytes.toString()).to.equal('url,alias')
    // each line is reported, whether it was read alone or with others
    expect(found).to.have.length(lines + 1)
    expect(found.slice(1).every(({ fault }) => fault !== undefined)).to.equal(true)
    expect(found.map((frame) => frame.line)).to.deep.equal(Array.from({ length: lines + 1 }, (_, n) => n + 1))
  })

  it('go on behind one that never ends: its lines are records, and those with open quotes are reported', async () => {
    const { found } = await read('url\n"a\nb\nx","\nc ""d""\ne')
    expect(found.map(({ line, bytes, fault }) => [line, fault ?? bytes.toString()])).to.deep.equal([
      [1, 'url'],
      [2, 'open'],
      [3, 'b'],
      [4, 'open'],
      [5, 'c ""d""'],
      [6, 'e'],
    ])
  })
})
