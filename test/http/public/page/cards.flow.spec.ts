import { expect } from 'chai'
import { until } from '../../../support/client.ts'
import { agents, long, policyOf, strict, summary, useInterstitials } from '../../../support/interstitials.ts'

describe('a link with metadata for cards', () => {
  const { app, key, add, visit, clicks } = useInterstitials()
  it('serves a page with it to previewers, and redirects all other visitors', async () => {
    const image = 'https://cdn.example.com/a.png'
    for (const type of ['direct', 'frame', 'splash']) {
      const { path } = await add({ type, metatitle: 'T "1"', metadescription: 'D <2>', metaimage: image })
      for (const agent of [agents.facebook, agents.slack]) {
        const page = await visit(path, { 'User-Agent': agent })
        expect(page.status).to.equal(200)
        for (const [name, content] of [
          ['property="og:title"', 'T &quot;1&quot;'],
          ['property="og:description"', 'D &lt;2&gt;'],
          ['name="description"', 'D &lt;2&gt;'],
          ['property="og:image"', image],
          ['name="twitter:card"', 'summary_large_image'],
        ])
          expect(page.text, name).to.include(`<meta ${name} content="${content}"`)
        expect(page.text).not.to.include('refresh').and.not.include('noindex').and.not.include('<iframe')
        expect(policyOf(page)).to.deep.equal({ ...strict, 'style-src': 'own' })
      }
      for (const agent of [agents.person, agents.googlebot, agents.iphone])
        if (type === 'direct') expect(summary(await visit(path, { 'User-Agent': agent }))).to.equal(`302 ${long}`)
    }
  })

  it('redirects previewers when there is none', async () => {
    const { path } = await add({ title: 'Only for me' })
    expect(summary(await visit(path, { 'User-Agent': agents.facebook }))).to.equal(`302 ${long}`)
  })

  it('counts a previewer as a visit and not as a click', async () => {
    const { id, path } = await add({ metatitle: 'T' })
    await visit(path, { 'User-Agent': agents.facebook })
    await visit(path)
    expect(
      await until(
        () => clicks(id),
        (count) => count > 0,
      ),
    ).to.equal(1)
    const { json } = await app().get(`/api/url/${id}/stats`, { key: key() })
    expect(json['data'].total).to.include({ clicks: 1, visits: 2 })
  })
})
