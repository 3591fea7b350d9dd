import { expect } from 'chai'
import { requireScannable } from '../../src/commands/qrdesign.ts'
import { Refused } from '../../src/commands/decider.ts'
import { payloadLimit } from '../../src/qr/payload.ts'

describe('requireScannable', () => {
  const black = { foreground: '#000000', background: '#ffffff' }

  it('accepts a contrast of at least 2:1, whichever color is darker', () => {
    for (const colors of [
      black,
      { foreground: '#ffffff', background: '#101010' },
      { foreground: '#0000ff', background: '#ffff00' },
    ])
      requireScannable(colors, 'text')
  })

  it('refuses a lower contrast and states it', () => {
    for (const [foreground, background] of [
      ['#ffffff', '#ffffff'],
      ['#ffff00', '#ffffff'],
      ['#000000', '#202020'],
    ] as const)
      expect(() => requireScannable({ foreground, background }, 'text'))
        .to.throw(Refused, /^`foreground` must differ more from `background`: their contrast is 1\.\d:1 and must be/)
        .with.property('code', 'invalid')
  })

  it('accepts a payload up to the limit in bytes, and refuses a longer one', () => {
    requireScannable(black, 'x'.repeat(payloadLimit))
    requireScannable(black, 'é'.repeat(payloadLimit / 2))
    for (const payload of ['x'.repeat(payloadLimit + 1), 'é'.repeat(payloadLimit / 2 + 1)])
      expect(() => requireScannable(black, payload))
        .to.throw(Refused, /^`data` must be at most 1200 bytes long in the code; it is 120\d\.$/)
        .with.property('code', 'invalid')
  })
})
