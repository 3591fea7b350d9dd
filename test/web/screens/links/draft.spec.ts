import { expect } from 'chai'
import type { LinkDetails } from '../../../../src/http/links/contract/link.ts'
import { loadTexts, useLanguage } from '../../../../src/web/core/texts.ts'
import {
  blank,
  bodyOf,
  copyOf,
  type Draft,
  draftOf,
  groupOf,
  groups,
  hasContent,
} from '../../../../src/web/screens/links/editor/draft.ts'

const base = 'https://links.example'
const url = 'https://example.com/'

/** A link that has something in every field. */
const details: LinkDetails = {
  id: 7,
  shorturl: 'https://go.example/spring',
  addresses: [],
  longurl: url,
  title: 'Spring',
  description: 'All about spring',
  location: { Germany: 'https://example.com/de' },
  device: { iphone: 'https://example.com/ios' },
  browser: { safari: 'https://example.com/safari' },
  language: { fr: 'https://example.com/fr' },
  expiry: '2030-01-31 18:00:00',
  starts: '2029-12-01 08:30:00',
  date: '2026-04-09 08:30:00',
  alias: 'spring',
  type: 'splash-3',
  domain: 'https://go.example',
  parameters: [{ name: 'utm_source', value: 'mail' }],
  metatitle: 'Spring sale',
  metadescription: 'Up to half off',
  metaimage: 'https://example.com/a.png',
  campaign: 4,
  channels: [5],
  pixels: [6],
  password: true,
  unframed: [],
  tags: ['spring', 'sale'],
  notes: 'From the meeting',
  archived: false,
  status: 'active',
  expired_url: 'https://example.com/over',
  max_clicks: 100,
  forward: true,
  variants: [
    { id: 1, url, weight: 1 },
    { id: 2, url: 'https://example.com/b', weight: 3 },
  ],
  revision: 2,
}

describe('the form of a link', () => {
  before(async () => {
    await useLanguage('en')
    await loadTexts()
  })

  it('copies everything of a link to another address but its password', () => {
    const draft = copyOf(details, base, { custom: 'sprng', domain: 'go.example' })
    const body = bodyOf(draft, blank)
    expect(body).to.include({ url, custom: 'sprng', domain: 'go.example', expiry: '2030-01-31 18:00:00' })
    expect(body).to.include({ starts: '2029-12-01 08:30:00', max_clicks: '100', expired_url: details.expired_url })
    expect(body['geotarget']).to.deep.equal([{ location: 'DE', link: 'https://example.com/de' }])
    expect(body['variants']).to.deep.equal(details.variants.map(({ url: to, weight }) => ({ url: to, weight })))
    expect(Object.keys(body)).to.have.members(
      [...Object.values(groups).flat(), 'url', 'custom', 'domain'].filter((name) => name !== 'password'),
    )
  })

  it('has everything that the API says of a link', () => {
    expect(draftOf(details, base)).to.deep.equal({
      url,
      domain: 'https://go.example',
      custom: 'spring',
      rules: [
        { kind: 'device', value: 'iphone', url: 'https://example.com/ios' },
        { kind: 'browser', value: 'Safari', url: 'https://example.com/safari' },
        { kind: 'country', value: 'DE', url: 'https://example.com/de' },
        { kind: 'language', value: 'fr', url: 'https://example.com/fr' },
      ],
      variants: details.variants,
      starts: '2029-12-01T08:30',
      expiry: '2030-01-31T18:00',
      max_clicks: '100',
      expired_url: 'https://example.com/over',
      title: 'Spring',
      description: 'All about spring',
      campaign: '4',
      channel: '5',
      tags: 'spring, sale',
      notes: 'From the meeting',
      password: '',
      removePassword: false,
      metatitle: 'Spring sale',
      metadescription: 'Up to half off',
      metaimage: 'https://example.com/a.png',
      type: 'splash-3',
      parameters: [{ name: 'utm_source', value: 'mail' }],
      forward: true,
      pixels: [6],
    } satisfies Draft)
  })

  it('is blank for a link that has only a destination', () => {
    const plain: LinkDetails = {
      ...details,
      ...{ title: '', description: '', metatitle: '', metadescription: '', metaimage: '', notes: '', expired_url: '' },
      ...{
        location: {},
        device: {},
        browser: {},
        language: {},
        expiry: null,
        starts: null,
        max_clicks: null,
        campaign: null,
      },
      ...{ channels: [], pixels: [], parameters: [], tags: [], variants: [] },
      ...{ type: 'direct', domain: base, forward: false },
    }
    expect(draftOf(plain, base)).to.deep.equal({ ...blank, url, custom: 'spring' })
  })

  it('leaves the title and the description empty where the API fills them in from the preview', () => {
    const same = { title: 'A', metatitle: 'A', description: 'B', metadescription: 'B' }
    expect(draftOf({ ...details, ...same }, base)).to.include({ title: '', description: '', metatitle: 'A' })
  })

  it('sends the destination alone when nothing else has changed', () => {
    const before = draftOf(details, base)
    expect(bodyOf(before, before)).to.deep.equal({ url })
    expect(bodyOf({ ...blank, url: ` ${url} ` }, blank)).to.deep.equal({ url })
  })

  /** Each change of a field, and what is sent for it. */
  const changes: { readonly [K in keyof Draft]: readonly (readonly [value: Draft[K], sent: object])[] } = {
    url: [['https://b.example/', { url: 'https://b.example/' }]],
    domain: [
      ['', { domain: '' }],
      ['https://b.example', { domain: 'https://b.example' }],
    ],
    custom: [[' summer ', { custom: 'summer' }]],
    rules: [
      [[], { devicetarget: [], browsertarget: [], geotarget: [], languagetarget: [] }],
      [
        [
          { kind: 'country', value: 'FR', url: 'https://example.com/fr' },
          { kind: 'country', value: 'DE', url: 'https://example.com/de' },
          { kind: 'device', value: '', url: '' },
          { kind: 'browser', value: 'Safari', url: 'https://example.com/safari' },
          { kind: 'language', value: '', url: 'https://example.com/unfinished' },
        ],
        {
          devicetarget: [],
          browsertarget: [{ browser: 'Safari', link: 'https://example.com/safari' }],
          geotarget: [
            { location: 'FR', link: 'https://example.com/fr' },
            { location: 'DE', link: 'https://example.com/de' },
          ],
          languagetarget: [{ language: '', link: 'https://example.com/unfinished' }],
        },
      ],
    ],
    variants: [[[], { variants: [] }]],
    starts: [
      ['', { starts: null }],
      ['2029-12-01T08:31', { starts: '2029-12-01 08:31:00' }],
    ],
    expiry: [
      ['', { expiry: null }],
      ['2031-01-01T00:00', { expiry: '2031-01-01 00:00:00' }],
    ],
    max_clicks: [
      ['', { max_clicks: null }],
      ['7', { max_clicks: '7' }],
    ],
    expired_url: [['', { expired_url: '' }]],
    title: [['Summer', { title: 'Summer' }]],
    description: [['', { description: '' }]],
    campaign: [
      ['', { campaign: null }],
      ['9', { campaign: 9 }],
    ],
    channel: [
      ['', { channel: null }],
      ['9', { channel: 9 }],
    ],
    tags: [
      ['', { tags: [] }],
      [' a,b ,, c ', { tags: ['a', 'b', 'c'] }],
    ],
    notes: [['', { notes: '' }]],
    password: [['secret', { password: 'secret' }]],
    removePassword: [[true, { password: '' }]],
    metatitle: [['', { metatitle: '' }]],
    metadescription: [['', { metadescription: '' }]],
    metaimage: [['', { metaimage: '' }]],
    type: [['direct', { type: 'direct' }]],
    parameters: [
      [
        [
          { name: 'a', value: '' },
          { name: '', value: 'b' },
        ],
        { parameters: [{ name: 'a', value: '' }] },
      ],
    ],
    forward: [[false, { forward: false }]],
    pixels: [[[], { pixels: [] }]],
  }
  for (const [field, cases] of Object.entries(changes))
    it(`sends ${field} when it has changed`, () => {
      const before = draftOf(details, base)
      for (const [value, sent] of cases)
        expect(bodyOf({ ...before, [field]: value }, before)).to.deep.equal({ url, ...sent })
    })

  it('removes a password even when a new one was typed before', () => {
    const before = draftOf(details, base)
    expect(bodyOf({ ...before, password: 'typed', removePassword: true }, before)).to.deep.equal({ url, password: '' })
  })

  it('opens the part that has the field which the API refuses', () => {
    for (const [group, fields] of Object.entries(groups))
      for (const field of fields) expect(groupOf(field), field).to.equal(group)
    for (const shown of ['url', 'custom', 'domain', undefined]) expect(groupOf(shown), shown).to.equal(undefined)
  })

  it('opens the parts that have something', () => {
    const names = Object.keys(groups) as (keyof typeof groups)[]
    expect(names.filter((group) => hasContent(group, blank))).to.deep.equal([])
    // a password is never shown
    expect(names.filter((group) => !hasContent(group, draftOf(details, base)))).to.deep.equal(['password'])
    expect(names.filter((group) => hasContent(group, { ...blank, forward: true }))).to.deep.equal(['redirect'])
    expect(names.filter((group) => hasContent(group, { ...blank, notes: 'x' }))).to.deep.equal(['organize'])
  })
})
