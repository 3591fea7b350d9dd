import { expect } from 'chai'
import type { ClickLine } from '../../../../src/http/streams/contract.ts'
import type * as RouterModule from '../../../../src/web/core/router.ts'
import type * as FiltersModule from '../../../../src/web/screens/statistics/filters.ts'
import { usePage } from '../../page.ts'

let router: typeof RouterModule
let filters: typeof FiltersModule

const click: ClickLine = {
  ...{ id: '7-0', event: 7, index: 0, rules: 1, account: 1, revision: 1 },
  ...{ destination: 'https://example.com/b', agent: 'Firefox', visitor: '0123456789abcdef' },
  at: '2026-04-09T08:30:00Z',
  link: 7,
  rule: 'variant:2',
  source: { kind: 'qr', id: 3 },
  country: 'DE',
  language: 'de',
  referrer: '',
  browser: { family: 'Firefox', version: '' },
  os: { family: 'Linux', version: '' },
  device: 'desktop',
  class: 'human',
}

describe('the filters of the statistics', () => {
  usePage(async () => {
    router = await import('../../../../src/web/core/router.ts')
    filters = await import('../../../../src/web/screens/statistics/filters.ts')
  })
  const filterBy = (query: string) => {
    router.at.value = { path: '/links/7', query: new URLSearchParams(query) }
  }
  after(() => filterBy(''))

  it('are read from the address of the page, without its other parameters', () => {
    filterBy('period=7d&country=DE,FR&os=&device=mobile&at=2026-04-09T08:30:00Z')
    expect(filters.filterQuery()).to.deep.equal({ country: 'DE,FR', device: 'mobile' })
    expect(filters.isFiltered()).to.equal(true)
    expect(filters.withoutFilters()).to.equal('/dashboard/links/7?at=2026-04-09T08%3A30%3A00Z&period=7d')
    filterBy('period=7d')
    expect(filters.isFiltered()).to.equal(false)
  })

  it('gain a value where a row is chosen, and lose it where it is chosen again', () => {
    filterBy('country=DE')
    expect(filters.toggled('country', 'FR')).to.equal('/dashboard/links/7?country=DE%2CFR')
    expect(filters.toggled('country', 'DE')).to.equal('/dashboard/links/7')
    expect(filters.toggled('os', 'Linux')).to.equal('/dashboard/links/7?country=DE&os=Linux')
  })

  const passing: readonly (readonly [query: string, passes: boolean, over?: Partial<ClickLine>])[] = [
    ['', true],
    ['', false, { class: 'bot' }],
    ['class=bot', true, { class: 'bot' }],
    ['class=bot', false],
    ['class=bot,human', true],
    ['country=FR', false],
    ['country=FR,DE', true],
    ['country=DE&os=Windows', false],
    ['referrer=none', true],
    ['referrer=none', false, { referrer: 'news.example' }],
    ['source=qr&browser=Firefox&device=desktop&language=de', true],
    ['variant=2', true],
    ['variant=none', true, { rule: 'link' }],
    ['rule=variant:2', true],
    ['rule=link', false],
  ]
  for (const [query, passes, over = {}] of passing)
    it(`let a live click ${passes ? 'through' : 'go'}: ${query || 'no filter'} ${JSON.stringify(over)}`, () => {
      filterBy(query)
      expect(filters.passes({ ...click, ...over })).to.equal(passes)
    })

  const named: readonly (readonly [...Parameters<typeof filters.nameOf>, words: string])[] = [
    ['country', 'DE', 'DE', 'Germany'],
    ['country', 'none', 'none', 'Unknown'],
    ['referrer', 'none', 'none', 'Direct'],
    ['language', 'fr', 'fr', 'French'],
    ['device', 'mobile', 'mobile', 'Phone'],
    ['source', 'rotator', 'rotator', 'Campaign'],
    ['class', 'prefetch', 'prefetch', 'Prefetches'],
    ['rule', 'location:de', 'location:de', 'Country: Germany'],
    ['rule', 'location:canada', 'location:canada', 'Country: canada'],
    ['rule', 'device:ios', 'device:ios', 'Device: iOS'],
    ['rule', 'browser:safari', 'browser:safari', 'Browser: safari'],
    ['rule', 'language:fr', 'language:fr', 'Language: French'],
    ['rule', 'variant:2', 'variant:2', 'Variant 2'],
    ['rule', 'link', 'link', 'Destination'],
    ['rule', 'something:new', 'something:new', 'something:new'],
    ['link', '7', 'https://links.example/spring', '/spring'],
    ['link', '7', 'https://go.example/spring', 'go.example/spring'],
    ['browser', 'Firefox', 'Firefox', 'Firefox'],
  ]
  for (const [dimension, value, name, words] of named)
    it(`call ${dimension} ${name} "${words}"`, () => expect(filters.nameOf(dimension, value, name)).to.equal(words))
})
