import { expect } from 'chai'
import type * as CsvModule from '../../../src/web/core/csv.ts'
import type * as TimeModule from '../../../src/web/core/time.ts'
import { usePage } from '../page.ts'

let csvOf: (typeof CsvModule)['csvOf']
let localCell: (typeof CsvModule)['localCell']
let useZone: (typeof TimeModule)['useZone']

/** Returns how one cell is written. */
const written = (cell: CsvModule.Cell) => csvOf(['a'], [[cell]]).split('\r\n')[1]

describe('a list as a file for a spreadsheet', () => {
  usePage(async () => {
    ;({ csvOf, localCell } = await import('../../../src/web/core/csv.ts'))
    ;({ useZone } = await import('../../../src/web/core/time.ts'))
  })
  afterEach(() => useZone('UTC'))

  it('has times in the time zone of the reader next to those in UTC', () => {
    expect(localCell('2026-04-04 15:10:05')).to.equal('2026-04-04T15:10:05+00:00')
    useZone('Australia/Lord_Howe')
    expect(localCell('2026-04-04 14:59:59')).to.equal('2026-04-05T01:59:59+11:00')
    expect(localCell('2026-04-04 15:00:00')).to.equal('2026-04-05T01:30:00+10:30')
  })

  it('begins with a byte order mark and ends each line as RFC 4180 has it', () => {
    expect(csvOf(['alias', 'clicks'], [['spring', 7]])).to.equal('\ufeffalias,clicks\r\nspring,7\r\n')
    expect(csvOf(['alias'], [])).to.equal('\ufeffalias\r\n')
  })

  it('quotes characters that would end a cell or a line', () => {
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

  it('writes a line also for a single cell without a text', () => {
    expect(written('')).to.equal('""')
    expect(written([])).to.equal('""')
  })

  it('keeps a spreadsheet from executing the text of a visitor', () => {
    for (const formula of ['=1+1', '+1', '-1', '@SUM(A1)']) expect(written(formula), formula).to.equal(`'${formula}`)
    expect(written('=HYPERLINK("https://evil.example","x")')).to.equal(`"'=HYPERLINK(""https://evil.example"",""x"")"`)
    expect(written(['x;=1', 'y'])).to.equal(`x;'=1 y`)
  })
})
