import { expect } from 'chai'
import { policyOf, strict, summary, useInterstitials } from '../../../support/interstitials.ts'

describe('a link with a splash page', () => {
  const { create, add, visit } = useInterstitials()

  it('shows a plain page for ten seconds by default, and does not redirect without script', async () => {
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
      expect(page.text).to.match(/<span class="plate"><img src="https:\/\/cdn\.example\.com\/logo\.png" alt="" \/>/)
      expect(page.text).to.match(
        /<span class="banner"><img src="https:\/\/images\.example\.org\/banner\.png" alt="" \/>/,
      )
      expect(page.text).to.include('max="3"')
      expect(policyOf(page)['img-src']).to.equal('https://cdn.example.com https://images.example.org')
    }
  })

  it('has one labelled button with its host for each destination, in the color of the owner', async () => {
    const product = 'https://shop.example.net/?a=1&b=2'
    const buttons = async (fields: object) => {
      const type = await create('splash', { name: 's', title: 's', ...fields })
      const { text } = await visit((await add({ type })).path)
      const found = text.matchAll(
        /class="button[^"]*"\s*href="([^"]*)"[^>]*>\s*<span[^>]*>(.*?)<\/span\s*><small[^>]*>(.*?)<\/small/g,
      )
      return { text, buttons: [...found].map(([, url, label, host]) => [url, label, host]) }
    }
    const to = ['https://example.com/a?b=c&amp;d=%20#e', 'Continue', 'example.com']
    const shop = 'https://shop.example.net/?a=1&amp;b=2'
    const plain = await buttons({ product })
    expect(plain.buttons).to.deep.equal([to, [shop, 'View the product', 'shop.example.net']])
    expect(plain.text).not.to.include('--owner')
    const own = await buttons({ product, label: 'To the <tours>', productLabel: 'The bikes', color: '#ffe45c' })
    expect(own.buttons).to.deep.equal([
      [to[0], 'To the &lt;tours&gt;', to[2]],
      [shop, 'The bikes', 'shop.example.net'],
    ])
    expect(own.text).to.include('--owner:#ffe45c').and.include('--on-go:#000000')
    expect((await buttons({})).buttons).to.deep.equal([to])
  })
})
