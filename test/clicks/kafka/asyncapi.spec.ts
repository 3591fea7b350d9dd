import { Ajv } from 'ajv'
import { expect } from 'chai'
import type { ClickEntry } from '../../../src/clicks/entry.ts'
import { asyncApi, messageSchema } from '../../../src/clicks/kafka/asyncapi.ts'
import { cloudEventHeaders } from '../../../src/clicks/kafka/cloudevent.ts'
import { encode } from '../../../src/clicks/kafka/message.ts'
import { at, classified } from '../../support/events.ts'

describe('the AsyncAPI document of the click topic', () => {
  const document = asyncApi('1.2.3')
  const { Headers, Message } = document.components.schemas
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const click: ClickEntry = { spool: 's', seq: 7, rules: 3, click: classified({ link: 42, languages: ['fr'] }) }
  const dropped: ClickEntry = { spool: 's', seq: 8, dropped: { count: 4, from: at(1), to: at(2) } }
  const headersOf = (entry: ClickEntry) => cloudEventHeaders('log 1', 3, entry, encode('log 1', entry).key)

  it('describes the headers and values of messages', () => {
    for (const entry of [click, dropped]) {
      expect(ajv.validate(Message, JSON.parse(encode('l', entry).value)), ajv.errorsText()).to.equal(true)
      expect(ajv.validate(Headers, headersOf(entry)), ajv.errorsText()).to.equal(true)
      expect(Object.keys(Headers.properties)).to.include.members(Object.keys(headersOf(entry)))
    }
    const { click: _, ...without } = JSON.parse(encode('l', click).value) as Record<string, unknown>
    expect(ajv.validate(messageSchema(), without)).to.equal(false)
    const { payload } = document.components.messages.click.examples[0]
    expect(ajv.validate(Message, payload), ajv.errorsText()).to.equal(true)
  })

  it('has references that lead somewhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path)
    expect(references.length).to.be.greaterThan(3)
    for (const path of references)
      expect(
        path.split('/').reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document),
        path,
      ).to.be.an('object')
  })

  it('gives each message the attributes of a CloudEvent, the same ones when it is repeated', () => {
    expect(headersOf(click)).to.deep.equal({
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: 's:3:7',
      ce_source: '/linkledger/log/log%201',
      ce_type: 'linkledger.click.v1',
      ce_time: 'click' in click ? click.click.at : '',
      ce_subject: 'link:42',
    })
    expect(headersOf(dropped)).to.include({ ce_type: 'linkledger.clicks-dropped.v1', ce_time: at(2) })
    expect(headersOf(dropped)).not.to.have.property('ce_subject')
  })
})
