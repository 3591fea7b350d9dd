import { expect } from 'chai'
import { gzipSync } from 'node:zlib'
import { BioTheme } from '../../../../src/events/pages/bio.ts'
import { iconOf } from '../../../../src/http/public/bio/icons.ts'
import { bioPage, initialsOf } from '../../../../src/http/public/bio/page.ts'
import { baseStyle } from '../../../../src/http/public/styles/base.ts'
import { contrast } from '../../../../src/qr/color.ts'
import type { BioTarget } from '../../../../src/queries/links/target.ts'
import { englishView } from '../../../support/pages.ts'

const target: BioTarget = {
  bio: 1,
  account: 1,
  revision: 0,
  position: 1n,
  domain: null,
  aliasKey: 'ann',
  name: 'Ann, public',
  alias: 'Ann',
  title: 'Ann Smith',
  description: 'Gardener & baker',
  avatar: 'https://cdn.example.com/ann.png',
  links: [{ id: 3, title: 'Videos', url: 'https://www.youtube.com/@ann' }],
}
const page = (over: Partial<BioTarget> = {}) => bioPage({ ...target, ...over })(englishView)
const styleOf = (over: Partial<BioTarget>) => (page(over).styles ?? []).map(({ text }) => text).join('')

describe('a bio page as a visitor sees it', () => {
  it('has a row for each entry with an icon, its title and its host, at an address of ours', () => {
    const { text } = page().content
    expect(text).to.include('href="/Ann/3"').and.to.include('<small dir="ltr">youtube.com</small>')
    expect(text).to.include(iconOf('https://youtube.com/').text).and.not.to.include('https://www.youtube.com')
  })

  it('describes itself to the programs that draw previews', () => {
    const head = page().head?.text ?? ''
    for (const [name, content] of Object.entries({
      'og:title': 'Ann Smith',
      'og:description': 'Gardener &amp; baker',
      'og:image': 'https://cdn.example.com/ann.png',
      'og:site_name': 'Linkledger',
    }))
      expect(head).to.include(`<meta property="${name}" content="${content}"`)
    expect(head).to.include('name="twitter:card" content="summary"').and.not.to.include('noindex')
  })

  it('has initials behind its picture, which show when it is broken or missing', () => {
    const broken = page().content.text
    expect(broken).to.match(/<span>AS<\/span><img src="https:\/\/cdn\.example\.com\/ann\.png" alt="" \/>/)
    const missing = page({ avatar: '' }).content.text
    expect(missing).to.include('<span>AS</span>').and.not.to.include('<img')
    for (const [name, initials] of [
      ['Ann', 'A'],
      ['ann maria smith-jones', 'AJ'],
      ['Émile Zola', 'ÉZ'],
      ['e\u0301mile', 'E\u0301'],
      ['山田 太郎', '山太'],
      ['  7 Days ', '7D'],
      ['★', ''],
    ] as const)
      expect(initialsOf(name), name).to.equal(initials)
  })

  it('has themes whose texts and controls are readable', () => {
    for (const theme of BioTheme.options)
      for (const color of theme === 'color' ? ['#ffd23f', '#3b0d2e', '#767676', '#ffffff'] : ['#1d4ed8']) {
        const css = baseStyle.text.replace(/@media.*$/s, '') + styleOf({ theme, color })
        const found = (name: string) =>
          [...css.matchAll(new RegExp(`--${name}:(#[0-9a-f]{3,6})\\b`, 'g'))].at(-1)?.[1] ?? ''
        const hex = (name: string) =>
          found(name).length === 4 ? found(name).replaceAll(/[\da-f]/g, '$&$&') : found(name)
        for (const text of ['ink', 'ink-2'])
          expect(contrast(hex(text), hex('paper')), `${theme} ${text}`).to.be.at.least(4.5)
        for (const part of ['line-strong', 'focus'])
          expect(contrast(hex(part), hex('paper')), `${theme} ${part}`).to.be.at.least(3)
      }
  })

  it('has the plain look where its theme is missing or of a newer release', () => {
    expect(styleOf({ theme: 'neon' }))
      .to.equal(styleOf({ theme: 'paper' }))
      .and.to.equal(styleOf({}))
  })

  it('stays within 8 KB with a hundred entries', () => {
    const links = Array.from({ length: 100 }, (_, i) => ({
      id: i + 1,
      title: `Link ${i}`,
      url: `https://site-${i}.example/`,
    }))
    const { content, head } = page({ links })
    expect(gzipSync(baseStyle.text + styleOf({}) + head?.text + content.text).length).to.be.below(8192)
  })
})

describe('the icon of a site', () => {
  it('is drawn for kinds of sites, and a globe for all others', () => {
    const globe = iconOf('https://example.com/').text
    expect(iconOf('https://open.spotify.com/x').text).to.equal(iconOf('https://soundcloud.com/y').text)
    expect(iconOf('https://maps.google.com/').text).not.to.equal(globe)
    for (const url of [
      'https://google.com/',
      'https://youtube.com.evil.example/',
      'http://127.0.0.1/',
      'https://[::1]/',
    ])
      expect(iconOf(url).text, url).to.equal(globe)
  })
})
