import { expect } from 'chai'
import { csvLine, textCell } from '../../src/lib/csv.ts'

/** Returns the cells of a line as a spreadsheet reads it that splits at `separator` and knows quotes. */
const split = (line: string, separator: string): readonly string[] => {
  const cells = ['']
  let isQuoted = false
  for (let i = 0; i < line.length; i++) {
    const [char, cell] = [line[i]!, cells.at(-1)!]
    if (isQuoted && char === '"' && line[i + 1] === '"') cells.splice(-1, 1, cell + line[++i])
    else if (isQuoted && char === '"') isQuoted = false
    else if (!isQuoted && char === '"' && cell === '') isQuoted = true
    else if (!isQuoted && char === separator) cells.push('')
    else cells.splice(-1, 1, cell + char)
  }
  return cells
}

describe('a text in a CSV file', () => {
  it('is quoted where it would end its cell or its line', () => {
    expect(['a', 'a,b', 'a"b', 'a\nb', 'a;b', ''].map(textCell)).to.deep.equal([
      'a',
      '"a,b"',
      '"a""b"',
      '"a\nb"',
      'a;b',
      '',
    ])
  })

  it('is never a formula, also where a spreadsheet splits at semicolons, tabs or lines', () => {
    const attacks = ['=1', '+1', '-1', '@a', '＝1', '=a,b', '\t=1', '\r=1', `x;=cmd|'/C calc'!A0`, 'x; =1', 'x;"=1"']
    const hidden = ['x\t+1', 'a"b;=1', 'a,b;-1', 'x\n=1', ';;=1', 'x;\t=1', `x;'=1`, 'x;" "=1', '";=1', 'a;"b";@c']
    for (const attack of [...attacks, ...hidden])
      for (const separator of [',', ';', '\t'])
        for (const line of `1,${textCell(attack)},2`.split(/[\r\n]/))
          for (const cell of split(line, separator)) expect(cell.trim(), attack).to.not.match(/^[=+\-@＝]/)
  })

  it('keeps a minus and an equals sign within a text', () => {
    for (const text of ['a-b', 'a;b=c', 'https://example.com/?a=b;c=d', '2026-05-03'])
      expect(textCell(text)).to.equal(text)
  })
})

describe('a line of a CSV file', () => {
  it('has its cells, of which nothing is an empty one', () => {
    expect(csvLine(['=1', 2, true, null, undefined, ''])).to.equal("'=1,2,true,,,")
    expect(csvLine(['', ''])).to.equal(',')
  })

  it('is never empty: readers would skip it', () => {
    for (const nothing of ['', null, undefined]) expect(csvLine([nothing])).to.equal('""')
  })
})
