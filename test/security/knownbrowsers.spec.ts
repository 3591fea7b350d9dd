import { expect } from 'chai'
import { knownBrowser, markBrowser } from '../../src/security/knownbrowsers.ts'

describe('the mark of a browser that has signed in', () => {
  const pepper = Buffer.alloc(32, 1)
  const ann = { id: 1, state: { password: 'scrypt$a', secondFactor: null } }
  const withFactor = (secret: string) => ({ id: 1, state: { ...ann.state, secondFactor: { secret } } })

  it('is one of its account, under its key, and keeps its id', () => {
    const mark = markBrowser(pepper, ann)
    const id = knownBrowser(pepper, ann, mark)
    expect(mark.split('.')[0]).to.equal(id)
    expect(markBrowser(pepper, ann, id)).to.equal(mark)
    expect(knownBrowser(pepper, { ...ann, id: 2 }, mark)).to.equal(undefined)
    expect(knownBrowser(Buffer.alloc(32, 2), ann, mark)).to.equal(undefined)
    for (const wrong of [undefined, '', `${mark}x`, mark.replace('.', '')])
      expect(knownBrowser(pepper, ann, wrong)).to.equal(undefined)
  })

  it('ends with the password, and with the second factor, that it was given for', () => {
    const mark = markBrowser(pepper, ann)
    expect(knownBrowser(pepper, { id: 1, state: { ...ann.state, password: 'scrypt$b' } }, mark)).to.equal(undefined)
    expect(knownBrowser(pepper, withFactor('A'), mark)).to.equal(undefined)
    const later = markBrowser(pepper, withFactor('A'))
    expect(knownBrowser(pepper, withFactor('A'), later)).to.be.a('string')
    expect([knownBrowser(pepper, withFactor('B'), later), knownBrowser(pepper, ann, later)]).to.deep.equal([
      undefined,
      undefined,
    ])
  })
})
