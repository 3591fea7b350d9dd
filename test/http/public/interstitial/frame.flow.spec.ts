import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { policyOf, strict, summary, useInterstitials } from '../../../support/interstitials.ts'

describe('a link that frames its destination', () => {
  const { app, add, visit } = useInterstitials()
  /** the same service, reached by https */
  let secure: TestApp
  before(async () => {
    secure = await startTestApp({ TRUST_PROXY: '1', BASE_URL: 'https://go.example' }, app().connection)
  })
  after(() => secure.close())

  it('shows the destination with few rights, its host, and the title of the link', async () => {
    const words = { title: 'Mine', description: 'Of mine', metatitle: 'A <b> & title', metadescription: 'It "says"' }
    const { path } = await add({ type: 'frame', ...words, metaimage: 'https://cdn.example.com/a.png?x=1&y=2' })
    const page = await visit(path)
    expect(page.status).to.equal(200)
    expect(page.text).to.include('<title>A &lt;b&gt; &amp; title</title>')
    for (const [name, content] of [
      ['og:title', 'A &lt;b&gt; &amp; title'],
      ['og:description', 'It &quot;says&quot;'],
      ['og:image', 'https://cdn.example.com/a.png?x=1&amp;y=2'],
    ])
      expect(page.text).to.include(`<meta property="${name}" content="${content}"`)
    const [frame = ''] = /<iframe[^>]*>/.exec(page.text) ?? []
    expect(frame).to.include('src="https://example.com/a?b=c&amp;d=%20#e"')
    expect(frame).to.include('referrerpolicy="no-referrer"')
    const rights = /sandbox="([^"]*)"/.exec(frame)?.[1]?.split(' ')
    expect(rights).to.include('allow-scripts').and.not.include('allow-top-navigation').and.not.include('allow-modals')
    // what visitors need
    expect(rights).to.include.members([
      'allow-downloads',
      'allow-popups',
      'allow-popups-to-escape-sandbox',
      'allow-top-navigation-by-user-activation',
    ])
    expect(frame).to.include('allow="fullscreen *"')
    expect(page.text).to.match(
      /<header class="bar">.*example\.com.*<a [^>]*href="https:\/\/example\.com\/a[^"]*"[^>]*>.*Open directly<.*<\/header/s,
    )
    expect(policyOf(page)).to.deep.equal({
      ...strict,
      'style-src': 'own own',
      'frame-src': 'https://example.com https://www.example.com',
    })
  })

  it('has the host of the destination as its title when the link has none', async () => {
    expect((await visit((await add({ type: 'frame' })).path)).text).to.include('<title>example.com</title>')
  })

  it('redirects a visitor on https to an http destination, which browsers would not frame', async () => {
    const { path } = await add({ type: 'frame', url: 'http://plain.example/' })
    expect(summary(await visit(path, {}, secure))).to.equal('302 http://plain.example/')
    const framed = await visit(path)
    expect(framed.text).to.include('<iframe')
    expect(policyOf(framed)['frame-src']).to.equal('http://plain.example http://www.plain.example')
  })
})
