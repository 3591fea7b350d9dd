import { expect } from 'chai'
import { subjectOf, visitedItems } from '../../src/events/subject.ts'
import { parseStreamId, streamId } from '../../src/events/streams.ts'

describe('the subject of an event', () => {
  it('is the link, bio page or QR code whose stream has it', () => {
    expect(subjectOf('link-42')).to.deep.equal({ items: [{ kind: 'links', id: 42 }] })
    expect(subjectOf('bio-7')).to.deep.equal({ items: [{ kind: 'bio', id: 7 }] })
    expect(subjectOf('qr-7')).to.deep.equal({ items: [{ kind: 'qr', id: 7 }] })
  })
  it('is the campaign, channel or domain whose stream has it', () => {
    for (const kind of ['campaign', 'channel', 'domain'])
      expect(subjectOf(`${kind}-5`)).to.deep.equal({ items: [], [kind]: 5 })
  })
  it('is both the channel and the item that is put into it', () => {
    for (const kind of ['links', 'bio', 'qr'])
      expect(subjectOf(`channelitem-5-${kind}-42`)).to.deep.equal({ items: [{ kind, id: 42 }], channel: 5 })
    expect(subjectOf('channelitem-5-newer-42')).to.deep.equal({ items: [], channel: 5 })
  })
  it('is empty for other streams', () => {
    for (const stream of ['account-1', 'pixel-5', 'claim-alias-0-a', 'log'])
      expect(subjectOf(stream)).to.deep.equal({ items: [] })
  })
})

describe('the visited resource', () => {
  const visited = (link: number, kind: string, id: number) => visitedItems({ link, source: { kind, id } })
  it('is the link, and the QR code or bio page that the visitor came by', () => {
    expect(visited(42, 'link', 42)).to.deep.equal([{ kind: 'links', id: 42 }])
    expect(visited(42, 'campaign', 5)).to.deep.equal([{ kind: 'links', id: 42 }])
    expect(visited(42, 'qr', 7)).to.deep.equal([
      { kind: 'links', id: 42 },
      { kind: 'qr', id: 7 },
    ])
  })
  it('is no link when the entry of a page leads elsewhere', () =>
    expect(visited(0, 'bio', 7)).to.deep.equal([{ kind: 'bio', id: 7 }]))
})

describe('the name of a stream', () => {
  it('has the kind and the id, which may have hyphens of its own', () => {
    expect(streamId('link', 7)).to.equal('link-7')
    expect(parseStreamId('link-7')).to.deep.equal({ kind: 'link', id: '7', number: 7 })
    const { kind, id, number } = parseStreamId(streamId('claim', 'alias', '0-a'))
    expect([kind, id]).to.deep.equal(['claim', 'alias-0-a'])
    expect(number).to.be.NaN
  })
  it('has no id, and no number, without a hyphen', () => {
    for (const stream of ['log', 'log-']) {
      const { kind, id, number } = parseStreamId(stream)
      expect([kind, id]).to.deep.equal(['log', ''])
      expect(number).to.be.NaN
    }
  })
})
