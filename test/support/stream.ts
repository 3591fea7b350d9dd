import { randomUUID } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import type { Click } from '../../src/events/statistics/click.ts'
import { systemMetadata } from '../../src/events/event.ts'
import type { EventStore } from '../../src/events/store.ts'
import { until } from './client.ts'
import { click } from './events.ts'

interface Ask {
  readonly key: string
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer that is being read. */
export interface Reading {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** Returns what has arrived so far. */
  readonly text: () => string
  /** Waits until something has arrived that matches. */
  readonly until: (matches: (text: string) => boolean) => Promise<string>
  /** Resolves with whether the answer is complete once it has ended. */
  readonly ended: Promise<boolean>
  readonly response: IncomingMessage
  readonly close: () => void
}

/** Sends a request and returns its answer while it arrives. */
export const readStream = async (address: string, path: string, { key, headers = {} }: Ask): Promise<Reading> => {
  const asked = request(`${address}${path}`, { agent: false, headers: { Authorization: `Bearer ${key}`, ...headers } })
  asked.end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve).once('error', reject)
  })
  let text = ''
  response.setEncoding('utf8').on('data', (part: string) => (text += part))
  const ended = new Promise<boolean>((resolve) => {
    response.on('error', () => {})
    response.once('close', () => resolve(response.complete))
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    until: (matches) => until(async () => text, matches),
    ended,
    response,
    close: () => asked.destroy(),
  }
}

/** Returns the objects in lines of JSON. */
export const objectsIn = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)

/** Returns the events in server-sent events, with their ids. */
export const sentEvents = (text: string) =>
  text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const fields = Object.fromEntries(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      return fields['data'] === undefined
        ? []
        : [{ id: fields['id'] ?? '', data: JSON.parse(fields['data']) as Readonly<Record<string, unknown>> }]
    })

/** Appends batches of clicks, each as one event of a partition of its own. */
export const appendClicks = async (store: Pick<EventStore, 'append'>, ...batches: readonly Partial<Click>[][]) => {
  const stream = `clicks-test-${randomUUID()}`
  const events = batches.map((clicks) => ({
    type: 'LinkClicked' as const,
    id: randomUUID(),
    data: {
      rules: 1,
      agents: ['Mozilla Gecko'],
      destinations: ['https://example.com/a'],
      languages: [['fr', 'en']],
      clicks: clicks.map((over) => click({ languages: 0, ...over })),
      upTo: {},
    },
    metadata: systemMetadata(),
  }))
  await store.append([{ stream, expected: 'no_stream', events }])
}
