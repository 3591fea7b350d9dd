import { expect } from 'chai'
import { overlay } from '../../../src/commands/pages/overlay.ts'
import { qr } from '../../../src/commands/qr/qr.ts'
import { ChangedByNewer } from '../../../src/events/unknown.ts'
import { overlayPage } from '../../../src/http/public/overlay/page.ts'
import { firing } from '../../../src/http/public/interstitial/pixels.ts'
import { englishView } from '../../support/pages.ts'
import { payload } from '../../../src/http/qr/address.ts'

describe('a stored value that only a newer release knows', () => {
  it('leaves a pixel out, and fires the others', () => {
    const known = { type: 'bing', tag: '1' } as const
    expect(firing([{ type: 'futurepixel', tag: '2' }, known])).to.deep.equal(firing([known]))
  })

  it('shows an overlay as a message in a corner', () => {
    const fields = { ...overlay.initialState.fields, message: 'Read this' }
    const page = (over: object) =>
      overlayPage(
        englishView,
        {
          interstitial: { title: '', description: '', image: '', pixels: [] },
          overlay: { ...fields, ...over, id: 1 },
        } as unknown as Parameters<typeof overlayPage>[1],
        'https://example.com/',
        {
          secure: true,
          consent: 'notice',
          apart: true,
          form: { action: '/o/1', hidden: { sign: 's' } } as unknown as Parameters<typeof overlayPage>[3]['form'],
        },
      )
    expect(page({ type: 'quiz', position: 'middle' })).to.deep.equal(page({}))
  })

  it('makes the image of a QR code unavailable here, not wrong', () => {
    const fields = { ...qr.initialState.fields, type: 'geo', data: '"1,2"' }
    expect(() => payload(fields, () => 'https://sho.rt')).to.throw(
      ChangedByNewer,
      'The QR code was changed by a newer version',
    )
  })
})
