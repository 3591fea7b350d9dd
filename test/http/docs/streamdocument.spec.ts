import { Ajv } from 'ajv'
import { expect } from 'chai'
import { asyncApi } from '../../../src/clicks/kafka/asyncapi.ts'
import type { Recorded } from '../../../src/events/event.ts'
import type { DomainEvent, LogEvent } from '../../../src/events/index.ts'
import { asSent } from '../../../src/http/streams/publicevent.ts'
import { streamDocument } from '../../../src/http/docs/streamdocument.ts'
import type { Definition } from '../../../src/app/jobs/webhooks/hook.ts'
import { type Message, messageOf, testMessage } from '../../../src/app/jobs/webhooks/message.ts'
import { newWebhookSecret, webhookHeaders } from '../../../src/security/webhooks.ts'
import { click, clicked, linkCreated, recorded } from '../../support/events.ts'

describe('the AsyncAPI document of streams and webhooks', () => {
  const document = asyncApi('1.2.3', streamDocument())
  const schemas = document.components.schemas as unknown as Readonly<Record<string, object>>
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const fits = (name: string, value: unknown) =>
    expect(ajv.validate(schemas[name]!, value), `${name}: ${ajv.errorsText()}`).to.equal(true)

  const definition: Definition = {
    url: 'https://example.com/',
    secret: newWebhookSecret(),
    old: null,
    all: true,
    types: new Set(['*', 'clicks']),
    clicks: true,
    links: new Set(),
    filter: { campaigns: new Set(), channels: new Set(), domains: new Set(), tags: new Set() },
    classes: new Set(),
  }
  const send = (event: Recorded<LogEvent>): Message => {
    const ref = { ordinal: 7, part: 0, stream: event.stream, revision: event.revision }
    return messageOf({ account: 1, definition }, event, ref, asSent, () => true) ?? expect.fail('nothing is sent')
  }
  const [created, clicks] = recorded([linkCreated(), clicked(click({ languages: 0 }))]) as [
    Recorded<DomainEvent>,
    Recorded<DomainEvent & { type: 'LinkClicked' }>,
  ]
  const unknown = (type: string) => ({ ...created, type: 'Unknown' as const, data: { type, version: 9 } })

  it('describes the lines and the messages that are sent', () => {
    fits('EventLine', asSent.event(created, 7))
    fits('ClickLine', asSent.click(clicks, 7, 0))
    fits('WebhookEvent', JSON.parse(send(created).body))
    fits('WebhookEvent', JSON.parse(send(unknown('LinkPinned')).body))
    fits('WebhookClicks', JSON.parse(send(clicks).body))
    fits('WebhookClicks', JSON.parse(send(unknown('LinkClicked')).body))
    const test = testMessage(3, 'x', new Date())
    fits('WebhookTest', JSON.parse(test.body))
    fits('WebhookHeaders', {
      ...webhookHeaders([definition.secret], { id: test.id, body: test.body, timestamp: 1_700_000_000 }),
      'content-type': 'application/json',
    })
    const { data: _, ...without } = JSON.parse(send(created).body) as Record<string, unknown>
    expect(ajv.validate(schemas['WebhookEvent']!, without)).to.equal(false)
  })

  it('has references that lead somewhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path)
    for (const path of references)
      expect(
        path.split('/').reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document),
        path,
      ).to.be.an('object')
    expect(Object.keys(document.channels)).to.deep.equal(['clicks', 'eventStream', 'clickStream', 'webhooks'])
  })
})
