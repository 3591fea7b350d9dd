import { expect } from 'chai'
import { CsvError, csvRecords, separatorOf } from '../../src/lib/table.ts'

const limits = { length: 100, cells: 4 }
const read = (text: string, separator = ',') =>
  [...csvRecords(text, separator, limits)].map(({ cells, line }) => [line, ...cells])
const problemOf = (text: string) => {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof CsvError) return [error.code, error.line]
    throw error
  }
}

describe('a table as text (RFC 4180)', () => {
  it('has cells in quotes or without, and lines that end in any way', () => {
    expect(read('a,b\r\n"c ""d"",\r\ne",\n,\r"",f')).to.deep.equal([
      [1, 'a', 'b'],
      [2, 'c "d",\r\ne', ''],
      [4, '', ''],
      [5, '', 'f'],
    ])
  })

  it('has no record in an empty line', () => {
    expect(read('\n\r\na\n\n b \n\n')).to.deep.equal([
      [3, 'a'],
      [5, ' b '],
    ])
    expect(read('')).to.deep.equal([])
    const many = [...csvRecords('\n'.repeat(5000), ',', limits)]
    expect(new Set(many.map(({ count }) => count))).to.deep.equal(new Set([0]))
  })

  it('counts all cells of a record, and keeps as many as it may have', () => {
    const [record] = csvRecords('a,b,c,d,"e\n",f', ',', limits)
    expect(record).to.deep.equal({ cells: ['a', 'b', 'c', 'd'], count: 6, line: 1 })
  })

  it('names the line of the record that cannot be read', () => {
    for (const text of ['a\nb,"c', 'a\n"b"c', 'a\nb"c"', 'a\n"b\n\n"" c', 'a\nb,"c"" '])
      expect(problemOf(text), text).to.deep.equal(['quotes', 2])
    for (const text of [
      `a\n${'x'.repeat(101)}`,
      `a\n"${'x'.repeat(101)}"`,
      `a\n${','.repeat(101)}`,
      `a\n"${'""'.repeat(60)}`,
    ])
      expect(problemOf(text), text).to.deep.equal(['long', 2])
    expect(read(`a\n${'x'.repeat(100)}\n${','.repeat(99)}`)).to.have.length(3)
  })

  it('has the separator that is most frequent in its first line, outside of quotes', () => {
    for (const [text, separator] of [
      ['a,b\nc;d;e', ','],
      ['\r\n\na;b;"c,d,e"\n', ';'],
      ['a\tb', '\t'],
      ['a', ','],
      ['"a\n;;"\tb,', ','] as const,
      ['"a\n;;"\tb', '\t'],
    ] as const)
      expect(separatorOf(text, 100), text).to.equal(separator)
  })
})
