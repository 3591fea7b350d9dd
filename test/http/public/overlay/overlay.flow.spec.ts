import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import type { Answer } from '../../../support/client.ts'
import { contrast } from '../../../../src/qr/color.ts'
import { agents, long, message, policyOf, strict, useInterstitials } from '../../../support/interstitials.ts'

describe('a link with an overlay', () => {
  const { app, create, add, visit } = useInterstitials()
  /** the same service, reached by https */
  let secure: TestApp
  before(async () => {
    secure = await startTestApp({ TRUST_PROXY: '1', BASE_URL: 'https://go.example' }, app().connection)
  })
  after(() => secure.close())

  const shown = async (body: object) => visit((await add({ type: `overlay-${await create('overlay', body)}` })).path)

  it('shows the framed destination and the overlay over it', async () => {
    const page = await shown({
      ...message,
      message: 'Read <this>',
      label: 'Read & learn',
      color: '#123456',
      position: 'tr',
    })
    expect(page.text)
      .to.match(/<iframe[^>]*src="https:\/\/example\.com\/a/)
      .and.match(/<aside class="overlay tr"/)
    expect(page.text).to.include('Read &lt;this&gt;').and.include('--owner:#123456')
    expect(page.text).to.match(
      /<a class="button go" href="https:\/\/example\.com\/guide"[^>]*>\s*<span dir="auto">Read &amp; learn<\/span>\s*<small dir="ltr">example\.com</,
    )
    expect(policyOf(page)).to.deep.equal({
      ...strict,
      'style-src': 'own own own own',
      'frame-src': 'https://example.com https://www.example.com',
    })
  })

  it('comes before the frame, under a title of its owner, with a button that closes it', async () => {
    const { text } = await shown({ ...message, name: 'Our <guide>' })
    expect(text).to.match(/<aside [^>]*aria-labelledby="overlay-title">.*<iframe/s)
    expect(text).to.match(/<h2 id="overlay-title"[^>]*>Our &lt;guide&gt;<\/h2>/)
    expect(text).to.match(/<dialog open[^>]*>\s*<form method="dialog"[^>]*><button[^>]*>Close<\/button><\/form>/)
  })

  it('is only a title on a phone until it is opened', async () => {
    const { path } = await add({ type: `overlay-${await create('overlay', message)}` })
    const isOpen = async (headers: Record<string, string>) => /<details open>/.test((await visit(path, headers)).text)
    for (const agent of [agents.iphone, agents.pixel8]) expect(await isOpen({ 'User-Agent': agent })).to.equal(false)
    expect(await isOpen({ 'Sec-CH-UA-Mobile': '?1' })).to.equal(false)
    expect(await isOpen({})).to.equal(true)
    expect(await isOpen({ 'Sec-CH-UA-Mobile': '?0', 'User-Agent': agents.pixel8 })).to.equal(true)
  })

  it('has buttons that can be read on any color', async () => {
    for (const color of ['#ffffff', '#000000', '#777777', '#3b82f6', '#ff0000', '#808080', '#6b7280']) {
      const style = (await shown({ ...message, color })).text
      const [, owner = '', on = ''] =
        /--owner:(#[\da-f]{6});--go:var\(--owner\);--on-go:(#[\da-f]{6})/.exec(style) ?? []
      expect(owner).to.equal(color)
      expect(contrast(owner, on), color).to.be.at.least(4.58)
    }
  })

  it('shows an image, a coupon and each form', async () => {
    const image = await shown({
      type: 'image',
      name: 'A picture',
      image: 'https://cdn.example.com/a.png',
      link: long,
    })
    expect(image.text).to.match(
      /<a href="https:\/\/example\.com\/a[^"]*"[^>]*>\s*<img src="https:\/\/cdn\.example\.com\/a\.png" alt="A picture"/,
    )
    expect(policyOf(image)['img-src']).to.equal('https://cdn.example.com')
    expect((await shown({ type: 'coupon', name: 'c', coupon: 'SPRING-10' })).text).to.match(/<code[^>]*>SPRING-10</)
    const names = ({ text }: Answer) =>
      [...text.matchAll(/ name="(\w+)"[^>]*(?:type="(email|radio)"|><)?/g)].map(([, name]) => name)
    const hidden = ['link', 'to', 'sign', 'website']
    expect(names(await shown({ type: 'contact', name: 'c' }))).to.include.members([
      'name',
      'email',
      'message',
      ...hidden,
    ])
    expect(names(await shown({ type: 'newsletter', name: 'n' }))).to.include.members(['email', ...hidden])
    const poll = await shown({ type: 'poll', name: 'p', question: 'Tea?', options: ['Yes', 'N"o'] })
    expect(poll.text)
      .to.match(/<legend[^>]*>Tea\?<\/legend/)
      .and.include('value="Yes"')
      .and.include('value="N&quot;o"')
  })

  it('shows the overlay with a link to the destination when that cannot be framed', async () => {
    const { path } = await add({ type: `overlay-${await create('overlay', message)}`, url: 'http://plain.example/' })
    const page = await visit(path, {}, secure)
    expect(page.text).to.include('Read our guide').and.not.include('<iframe')
    expect(page.text).to.match(/<a [^>]*href="http:\/\/plain\.example\/"[^>]*>Open directly</)
  })
})
