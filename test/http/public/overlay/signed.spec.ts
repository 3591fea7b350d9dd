import { expect } from 'chai'
import { answerForm, originOf } from '../../../../src/http/public/overlay/signed.ts'
import { isFromOtherSite } from '../../../../src/http/public/postedform.ts'

const secret = Buffer.alloc(32, 7)
const origin = { link: 3, to: 'https://example.com/a?b=c d' }
const now = Date.UTC(2030, 0, 1)
const day = 86_400_000

describe('the signature of an overlay form', () => {
  const posted = (changes: Readonly<Record<string, string>> = {}) =>
    new URLSearchParams({ ...answerForm(secret, 5, origin, now).hidden, ...changes })

  it('is valid for a day', () => {
    expect(originOf(secret, 5, posted(), now)).to.deep.equal(origin)
    expect(originOf(secret, 5, posted(), now + day - 1000)).to.deep.equal(origin)
    expect(originOf(secret, 5, posted(), now + day)).to.equal(undefined)
  })

  it('covers the overlay, the link, the destination and the end', () => {
    expect(originOf(secret, 6, posted(), now)).to.equal(undefined)
    expect(originOf(Buffer.alloc(32, 8), 5, posted(), now)).to.equal(undefined)
    const end = String(now / 1000 + 10 * 86_400)
    for (const changes of [
      { link: '4' },
      { to: 'https://evil.example/' },
      { until: end },
      { sign: '' },
      { until: 'NaN' },
    ])
      expect(originOf(secret, 5, posted(changes), now), JSON.stringify(changes)).to.equal(undefined)
    expect(originOf(secret, 5, new URLSearchParams(), now)).to.equal(undefined)
  })

  it('does not help a page of another site to post it', () => {
    const from = (site?: string) => isFromOtherSite({ headers: site === undefined ? {} : { 'sec-fetch-site': site } })
    expect(['cross-site', 'same-site', 'same-origin', 'none', undefined].map(from)).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})
