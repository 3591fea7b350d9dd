import { expect } from 'chai'
import { isNamed, kindAt, kindOf, ownedKinds, resourceKinds } from '../../src/events/kinds.ts'
import { knownIn } from '../../src/events/openenum.ts'
import { QrType } from '../../src/events/qr/qr.ts'

describe('the kinds of resources', () => {
  it('are found by their path in the API', () => {
    expect(kindAt('url')).to.equal('link')
    for (const kind of ownedKinds) expect(kindAt(kindOf(kind)!.path!), kind).to.equal(kind)
    expect(kindAt('toString')).to.equal(undefined)
  })
  it('are found by the kind of their stream, which others have not', () => {
    for (const kind of resourceKinds) expect(kindOf(kind), kind).to.be.an('object')
    for (const stream of ['claim', 'toString', '']) expect(kindOf(stream), stream).to.equal(undefined)
  })
  it('have unique names, or have none', () => {
    expect(['link', 'bio', 'qr', 'campaign'].every((kind) => isNamed(kind as 'link'))).to.equal(true)
    expect(['pixel', 'webhook'].some((kind) => isNamed(kind as 'link'))).to.equal(false)
  })
})

describe('a value that a newer release may have added', () => {
  it('is known when this release writes it', () => {
    expect(knownIn(QrType, 'wifi')).to.equal('wifi')
    expect(knownIn(QrType, 'geo')).to.equal(undefined)
  })
})
