import { z } from 'zod'
import { eventTypes } from './cloudevent.ts'
import { Message } from './message.ts'

const string = { type: 'string' } as const

const headers = {
  type: 'object',
  description: 'the attributes of CloudEvents 1.0 in binary mode',
  properties: {
    'content-type': { ...string, const: 'application/json' },
    ce_specversion: { ...string, const: '1.0' },
    ce_id: {
      ...string,
      description: 'spool, partition and number: a repeated message has the same',
      examples: ['4be1a0f5:3:4711'],
    },
    ce_source: {
      ...string,
      format: 'uri-reference',
      description: 'the event log',
      examples: ['/linkledger/log/0197b0c2'],
    },
    ce_type: { ...string, enum: Object.values(eventTypes) },
    ce_time: { ...string, format: 'date-time', description: 'when the visitor was answered' },
    ce_subject: { ...string, description: 'the key of the message', examples: ['link:42'] },
  },
  required: ['content-type', 'ce_specversion', 'ce_id', 'ce_source', 'ce_type', 'ce_time'],
} as const

const example = {
  v: 1,
  log: '0197b0c2-6a3e-7c1d-9a55-0f2f6c0d1e11',
  spool: '4be1a0f5-0c52-4b8e-a3e5-6a1d0f7c9b21',
  seq: 4711,
  rules: 1,
  click: {
    at: '2026-11-21T17:12:22.123Z',
    account: 3,
    link: 42,
    revision: 5,
    destination: 'https://example.com/a?b=c',
    rule: 'link',
    source: { kind: 'link', id: 42 },
    country: 'CA',
    language: 'fr',
    languages: ['fr', 'en'],
    referrer: 'example.org',
    medium: 'other',
    browser: { family: 'Firefox', version: '130.0' },
    os: { family: 'Linux', version: '' },
    device: 'desktop',
    class: 'human',
    agent: 'Mozilla X Linux x rv Gecko Firefox',
    visitor: '9f86d081884c7d65',
  },
} satisfies z.input<typeof Message>

/** Returns the JSON Schema (draft 7, the dialect of AsyncAPI) of a message's value. */
export const messageSchema = () => z.toJSONSchema(Message, { io: 'input', target: 'draft-7', unrepresentable: 'any' })

/** Parts of the document that describe something else than the topic. */
interface Others {
  readonly channels: object
  readonly operations: object
  readonly messages: object
  readonly schemas: object
}
const none: Others = { channels: {}, operations: {}, messages: {}, schemas: {} }

/**
 * Returns the description of the click topic in AsyncAPI 3.0, made from the schema that reads its messages, with those
 * of `others`.
 */
export const asyncApi = (version: string, others = none) => {
  const { $schema: _, ...payload } = messageSchema()
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Linkledger: clicks and events',
      version,
      description:
        'The topic of clicks, the streams of the API, and webhooks. In the topic, every visit to a short link, QR code or bio page is one message. Delivery is at least once: skip a message whose `ce_id` you have seen. ' +
        'New fields may appear within version 1: ignore unknown ones.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    defaultContentType: 'application/json',
    channels: {
      clicks: {
        address: 'linkledger.clicks',
        description: 'The setting KAFKA_TOPIC changes its name, KAFKA_PARTITIONS its number of partitions.',
        messages: { click: { $ref: '#/components/messages/click' } },
      },
      ...others.channels,
    },
    operations: {
      sendClicks: {
        action: 'send',
        summary: 'Linkledger sends each visit and its classification',
        channel: { $ref: '#/channels/clicks' },
        messages: [{ $ref: '#/channels/clicks/messages/click' }],
      },
      ...others.operations,
    },
    components: {
      messages: {
        click: {
          name: 'click',
          title: 'A visit, or a number of visits that were lost because a disk was full',
          contentType: 'application/json',
          headers: { $ref: '#/components/schemas/Headers' },
          payload: { $ref: '#/components/schemas/Message' },
          bindings: {
            kafka: {
              key: {
                type: ['string', 'null'],
                description: '`link:<id>`, `qr:<id>` or `bio:<id>`; none for lost visits',
              },
              bindingVersion: '0.5.0',
            },
          },
          examples: [{ name: 'click', payload: example }],
        },
        ...others.messages,
      },
      schemas: { Headers: headers, Message: payload, ...others.schemas },
    },
  } as const
}
