import { expect } from 'chai'
import { requireScannable, scanWarnings } from '../../../src/commands/qr/design.ts'
import { Refused } from '../../../src/commands/decider.ts'
import { payloadLimit } from '../../../src/qr/payload.ts'

describe('requireScannable', () => {
  const black = { foreground: '#000000', background: '#ffffff' }

  it('accepts a contrast of at least 3:1, whichever color is darker', () => {
    for (const colors of [
      black,
      { foreground: '#ffffff', background: '#101010' },
      { foreground: '#0000ff', background: '#ffff00' },
      { foreground: '#949494', background: '#ffffff' },
    ])
      requireScannable(colors, 'text')
  })

  it('refuses a code below 3:1, which scanners do not read, and states its contrast', () => {
    for (const [foreground, background] of [
      ['#ffffff', '#ffffff'],
      ['#ffff00', '#ffffff'],
      ['#000000', '#202020'],
      // 2.5:1, and 2.99:1, which must not be reported as 3.0:1
      ['#a2a2a2', '#ffffff'],
      ['#959595', '#ffffff'],
    ] as const)
      expect(() => requireScannable({ foreground, background }, 'text'))
        .to.throw(
          Refused,
          /^`foreground` must differ more from `background`: their contrast is [12]\.\d+:1 and must be at least 3:1/,
        )
        .with.property('code', 'low_contrast')
  })

  it('leaves the colors of an existing code alone when it keeps them', () => {
    const old = { foreground: '#a2a2a2', background: '#ffffff' }
    requireScannable(old, 'text', old)
    expect(() => requireScannable({ ...old, background: '#fefefe' }, 'text', old)).to.throw(Refused)
  })

  it('accepts a payload up to the limit in bytes, and refuses a longer one', () => {
    requireScannable(black, 'x'.repeat(payloadLimit))
    requireScannable(black, 'é'.repeat(payloadLimit / 2))
    for (const payload of ['x'.repeat(payloadLimit + 1), 'é'.repeat(payloadLimit / 2 + 1)])
      expect(() => requireScannable(black, payload))
        .to.throw(Refused, /^`data` must be at most 1200 bytes long in the code; it is 120\d\.$/)
        .with.property('code', 'too_long')
  })
})

describe('scanWarnings', () => {
  it('warns below 4.5:1 and of light on dark, which several scanners do not read', () => {
    const about = (foreground: string, background: string) =>
      scanWarnings({ foreground, background }).map((text) => / is (lighter|[\d.]+:1)/.exec(text)?.[1])
    expect(about('#000000', '#ffffff')).to.deep.equal([])
    expect(about('#767676', '#ffffff')).to.deep.equal([])
    expect(about('#777777', '#ffffff')).to.deep.equal(['4.47:1'])
    expect(about('#ffffff', '#000000')).to.deep.equal(['lighter'])
    expect(about('#ffffff', '#777777')).to.deep.equal(['4.47:1', 'lighter'])
  })
})
