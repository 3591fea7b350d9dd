import { expect } from 'chai'
import { policyOf, strict, summary, useInterstitials } from '../../support/interstitials.ts'

describe('a link with a splash page', () => {
  const { create, add, visit } = useInterstitials()

  it('shows a plain page for ten seconds by default, and does not redirect without script (fault 156)', async () => {
    const page = await visit((await add({ type: 'splash', title: 'The report' })).path)
    expect(summary(page)).to.equal('200 The report')
    const to = 'https://example.com/a?b=c&amp;d=%20#e'
    expect(page.text).not.to.match(/http-equiv/i)
    expect(page.text).to.include('<bdi dir="ltr"><b>example.com</b></bdi>').and.include('max="10"')
    expect(page.text).to.match(/<a\s+id="go"\s+class="button go"/)
    expect(page.text).to.include(`href="${to}"`)
    expect(policyOf(page)).to.deep.equal({ ...strict, 'style-src': 'own own own', 'script-src': 'own' })
  })

  it('shows every part of a custom page', async () => {
    const id = await create('splash', {
      name: 'Spring',
      title: 'Spring & sale',
      message: 'Until <Sunday>',
      logo: 'https://cdn.example.com/logo.png',
      banner: 'https://images.example.org/banner.png',
      product: 'https://shop.example.net/?a=1&b=2',
      counter: 3,
    })
    for (const type of [id, String(id), `splash-${id}`]) {
      const page = await visit((await add({ type })).path)
      expect(page.text).to.include('Spring &amp; sale').and.include('Until &lt;Sunday&gt;')
      expect(page.text).to.match(/<img class="logo" src="https:\/\/cdn\.example\.com\/logo\.png"/)
      expect(page.text).to.match(/<img class="banner" src="https:\/\/images\.example\.org\/banner\.png"/)
      expect(page.text.match(/<a href="https:\/\/shop\.example\.net\/\?a=1&amp;b=2"/g)).to.have.length(2)
      expect(page.text).to.include('max="3"')
      expect(policyOf(page)['img-src']).to.equal('https://cdn.example.com https://images.example.org')
    }
  })
})
