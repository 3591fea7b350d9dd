import { expect } from 'chai'
import { listsIn } from '../bin/kindlists.ts'

const types = new Set(['OwnedKind', 'NamedKind'])
const linesOf = (source: string) => listsIn(source, types).map(({ line }) => line)
const entries = 'link: 1, qr: 2, domain: 3, pixel: 4, campaign: 5, channel: 6'

describe('lists of kinds', () => {
  it('are found as values, types, objects and cases', () => {
    expect(linesOf("const a = ['link', 'qr', 'domain', 'pixel', 'campaign', 'channel']")).to.deep.equal([1])
    expect(linesOf("\ntype A = 'link' | 'qr' | 'domain' | 'pixel' | 'campaign' | 'channel'")).to.deep.equal([2])
    expect(linesOf(`const a = { ${entries} }`)).to.deep.equal([1])
    const cases = ['link', 'qr', 'domain', 'pixel', 'campaign', 'channel'].map((kind) => `case '${kind}':`)
    expect(linesOf(`switch (kind) { ${cases.join(' ')} }`)).to.deep.equal([1])
  })

  it('are not those that the compiler finds incomplete', () => {
    expect(linesOf(`const a: Readonly<Record<OwnedKind, number>> = { ${entries} }`)).to.deep.equal([])
    expect(linesOf(`const a: Record<OwnedKind, (n: number) => void> = { ${entries} }`)).to.deep.equal([])
    expect(linesOf(`const a = { ${entries} } as const satisfies Record<NamedKind, number>`)).to.deep.equal([])
  })

  it('are those that may lack a kind, or are of another type', () => {
    expect(linesOf(`const a: Partial<Record<OwnedKind, number>> = { ${entries} }`)).to.deep.equal([1])
    expect(linesOf(`const a: Record<string, number> = { ${entries} }`)).to.deep.equal([1])
    expect(linesOf(`const a = { ${entries} } satisfies Record<string, number>`)).to.deep.equal([1])
    expect(linesOf(`const a: Record<OwnedKind, number> = make({ ${entries} })`)).to.deep.equal([1])
  })

  it('are neither imports nor what several statements name', () => {
    expect(linesOf("import { link, qr, domain, pixel, campaign, channel } from './all.ts'")).to.deep.equal([])
    expect(linesOf("const a = ['link', 'qr', 'domain']\nconst b = ['pixel', 'campaign', 'channel']")).to.deep.equal([])
  })
})
