import { expect } from 'chai'
import { type Cell, csvOf } from '../../../src/web/core/csv.ts'

/** Returns how one cell is written. */
const written = (cell: Cell) => csvOf(['a'], [[cell]]).split('\r\n')[1]

describe('a list as a file for a spreadsheet', () => {
  it('begins with a byte order mark and ends each line as RFC 4180 has it', () => {
    expect(csvOf(['alias', 'clicks'], [['spring', 7]])).to.equal('\ufeffalias,clicks\r\nspring,7\r\n')
    expect(csvOf(['alias'], [])).to.equal('\ufeffalias\r\n')
  })

  it('quotes what would end a cell or a line', () => {
    const quoted: readonly (readonly [string, string])[] = [
      ['a,b', '"a,b"'],
      ['say "hi"', '"say ""hi"""'],
      ['two\nlines', '"two\nlines"'],
      ['plain; text', 'plain; text'],
    ]
    for (const [given, cell] of quoted) expect(written(given)).to.equal(cell)
  })

  it('writes lists with spaces, and other values as they are', () => {
    expect(written(['spring', 'sale'])).to.equal('spring sale')
    expect(written(false)).to.equal('false')
    expect(written(-5)).to.equal('-5')
  })

  it('keeps a spreadsheet from executing what a visitor wrote', () => {
    for (const formula of ['=1+1', '+1', '-1', '@SUM(A1)']) expect(written(formula), formula).to.equal(`'${formula}`)
    expect(written('=HYPERLINK("https://evil.example","x")')).to.equal(`"'=HYPERLINK(""https://evil.example"",""x"")"`)
    expect(written(['x;=1', 'y'])).to.equal(`x;'=1 y`)
  })
})
