import { expect } from 'chai'
import type { BioPageDetails } from '../../../../src/http/pages/contract/bio.ts'
import * as bio from '../../../../src/web/screens/pages/bios/draft.ts'
import * as overlay from '../../../../src/web/screens/pages/overlays/draft.ts'

describe('the form of a bio page', () => {
  const details: BioPageDetails = {
    ...{ id: 7, link: 'https://links.example/u/ann', name: 'Ann', alias: 'ann', title: 'Ann', description: '' },
    ...{ date: '2026-04-09 08:30:00', revision: 0 },
    ...{ avatar: '', theme: 'ink', color: '#123456' },
    links: [
      { id: 3, title: 'Shop', url: 'https://shop.example/', clicks: 12, uniqueClicks: 9 },
      { id: 1, title: 'Blog', url: 'https://blog.example/', clicks: 0, uniqueClicks: 0 },
    ],
  }

  it('sends back its own values: entries keep their number, by which their clicks are counted', () => {
    const { id: _id, link: _link, date: _date, revision: _revision, links, ...rest } = details
    expect(bio.bodyOf(bio.draftOf(details))).to.deep.equal({
      ...rest,
      links: links.map(({ id, title, url }) => ({ id, title, url })),
    })
  })

  it('lets the service choose a name where none is given, and leaves out entries that are empty', () => {
    const entries = [
      { key: 0, id: undefined, title: ' Shop ', url: ' https://shop.example/ ' },
      { key: 1, id: undefined, title: '  ', url: '' },
      { key: 2, id: undefined, title: '', url: 'https://half.example/' },
    ]
    const body = bio.bodyOf({ ...bio.blank, entries })
    expect(body).not.to.have.property('alias')
    expect(body.links).to.deep.equal([
      { title: 'Shop', url: 'https://shop.example/' },
      { title: '', url: 'https://half.example/' },
    ])
  })

  it('gives each new entry a key of its own, also after some were moved and removed', () => {
    const [third, first] = [
      { key: 2, id: 5, title: '', url: '' },
      { key: 0, id: 6, title: '', url: '' },
    ]
    expect(bio.withEntry([third, first]).map(({ key }) => key)).to.deep.equal([2, 0, 3])
    expect(bio.withEntry([])).to.deep.equal([{ key: 0, id: undefined, title: '', url: '' }])
  })
})

describe('the form of an overlay', () => {
  it('sends back what it was made of', () => {
    const poll: overlay.Draft = {
      ...overlay.blank,
      type: 'poll',
      name: 'Poll',
      question: 'Which?',
      options: ['A', 'B'],
    }
    const answered = { ...poll, id: 7, clicks: 3 }
    expect(overlay.bodyOf(overlay.draftOf(answered))).to.deep.equal(poll)
  })

  it('has two rows for answers where there are none, and sends only those that are filled in', () => {
    const draft = overlay.draftOf({ ...overlay.blank, options: [] })
    expect(draft.options).to.deep.equal(['', ''])
    expect(overlay.bodyOf({ ...draft, options: [' A ', '', 'B', ' '] }).options).to.deep.equal(['A', 'B'])
  })

  it('shows for each type only fields that it has', () => {
    for (const type of overlay.types) {
      expect(overlay.fieldsOf[type], type).not.to.be.empty
      expect(overlay.fields, type).to.include.members([...overlay.fieldsOf[type]])
    }
  })
})
