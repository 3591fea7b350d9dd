import { expect } from 'chai'
import { scannedCode, withMark, withoutMarks } from '../../../../src/http/public/link/scan.ts'

describe('the mark of a scan', () => {
  const [secret, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const now = Date.UTC(2026, 0, 2)
  const marked = (url: string, link = 4, key = secret) => withMark(key, url, { code: 7, link }, now)
  const queryOf = (url: string) => new URL(url).search.slice(1)
  const mark = queryOf(marked('https://sho.rt/a'))

  it('says for one minute by which code a visit of one link comes', () => {
    expect(scannedCode(secret, mark, 4, now)).to.equal(7)
    expect(scannedCode(secret, `a=1&${mark}&b=2`, 4, now + 59_999)).to.equal(7)
    expect(scannedCode(secret, mark, 4, now + 60_000)).to.equal(undefined)
    expect(scannedCode(secret, mark, 5, now)).to.equal(undefined)
  })

  it('is ignored when anything in it was changed or it has another key', () => {
    const [, code, until, signature] = /=(\d+)\.(\d+)\.(.+)/.exec(mark) ?? []
    const forged = [
      `ll_scan=8.${until}.${signature}`,
      `ll_scan=${code}.${Number(until) + 60}.${signature}`,
      `ll_scan=${code}.${until}.${signature?.slice(1)}`,
      `ll_scan=0${code}.${until}.${signature}0`,
      `ll_scan=${code}.${until}`,
      `x${mark}`,
      queryOf(marked('https://sho.rt/a', 4, other)),
      '',
    ]
    for (const query of forged) expect(scannedCode(secret, query, 4, now), query).to.equal(undefined)
    // one that is ours counts also after one that is not
    expect(scannedCode(secret, `${forged[0]}&${mark}`, 4, now)).to.equal(7)
  })

  it('comes after the query of an address, before its fragment, and replaces the mark of an earlier scan', () => {
    expect(marked('https://sho.rt/a?x=1#top')).to.equal(`https://sho.rt/a?x=1&${mark}#top`)
    expect(marked(marked('https://sho.rt/a', 5))).to.equal(`https://sho.rt/a?${mark}`)
  })

  it('is taken out of a query, and nothing else is', () => {
    expect(withoutMarks(mark)).to.equal('')
    expect(withoutMarks(`a=%20&${mark}&ll_scan=mine&b`)).to.equal('a=%20&ll_scan=mine&b')
    expect(withoutMarks('a=1&&b=+')).to.equal('a=1&&b=+')
  })
})
