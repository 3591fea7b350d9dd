import { join } from 'node:path'
import { expect } from 'chai'
import { z } from 'zod'
import { codec, type Raw } from '../../src/events/codec.ts'
import { events } from '../../src/events/index.ts'
import { versionOf } from '../../src/events/upcast.ts'
import { metadata } from '../support/events.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { readLines, releases } from '../releases/release.ts'

describe('the versions of events', () => {
  const { encode, decode } = codec(memoryKeyring())

  /** Returns the stored events of a type, as the log of release 0.1.0 has them. */
  const stored = async (type: string) =>
    (await readLines(join(releases, '0.1.0'), 'log.jsonl'))
      .filter((line) => line['type'] === type)
      .map(
        (line) =>
          ({
            ...line,
            position: BigInt(String(line['position'])),
            revision: BigInt(String(line['revision'])),
          }) as unknown as Raw,
      )

  it('are raised to the current one when a stored event is read: clicks of 0.1.0 have no languages', async () => {
    const raws = await stored('LinkClicked')
    expect(raws.length).to.be.above(0)
    for (const {
      data,
      metadata: { v },
    } of raws as (Raw & { metadata: { v: number } })[]) {
      expect(v).to.equal(1)
      expect(data).not.to.have.property('languages')
    }
    const read = await decode(raws)
    for (const [i, event] of read.entries()) {
      const { data } = raws[i]!
      expect(event.type).to.equal('LinkClicked')
      expect(event.data).to.deep.equal({ ...(data as object), languages: [] })
    }
  })

  it('leave an event of the current version as it is', async () => {
    const [raw] = await stored('LinkClicked')
    const languages = [['de', 'fr'], ['en']]
    const current = {
      ...raw!,
      data: { ...(raw!.data as object), languages },
      metadata: { ...metadata(), v: versionOf('LinkClicked') },
    }
    const [read] = await decode([current])
    expect(read?.data).to.deep.include({ languages })
  })

  it('are written with each event', async () => {
    const event = { id: '1', type: 'LinkDeleted', data: { id: 7 }, metadata: metadata() } as const
    expect(JSON.parse((await encode(event, 'link-7')).metadata)).to.include({ v: 1 })
    const [clicked] = await decode(await stored('LinkClicked'))
    if (clicked?.type !== 'LinkClicked') throw new Error('not a click')
    expect(JSON.parse((await encode(clicked, 'clicks-1-0')).metadata)).to.include({ v: 2 })
  })

  it('are known for every type', () => {
    for (const type of Object.keys(events) as (keyof typeof events)[]) expect(versionOf(type)).to.be.at.least(1)
  })
})

describe('a value of an enumeration that only a newer release knows', () => {
  const { decode } = codec(memoryKeyring())
  const raw = (type: string, data: object, actor: object = { kind: 'service' }): Raw => ({
    id: '1',
    stream: 'x-1',
    revision: 0n,
    position: 1n,
    at: metadata().at,
    type,
    data,
    metadata: { ...metadata(), actor, v: versionOf(type as keyof typeof events) },
  })

  it('is read and kept as it is, in the metadata and in the data of an event', async () => {
    const [read] = await decode([
      raw('PixelCreated', { id: 1, account: 1, type: 'futurepixel', name: 'n', tag: 't' }, { kind: 'robot' }),
    ])
    expect(read).to.have.nested.property('data.type', 'futurepixel')
    expect(read).to.have.nested.property('metadata.actor.kind', 'robot')
    const item = { kind: 'playlists', id: 3 }
    const [assigned] = await decode([raw('ItemAssignedToChannel', { channel: 1, item })])
    expect(assigned?.data).to.deep.equal({ channel: 1, item })
  })

  it('makes no event unreadable: no schema has a closed enumeration', () => {
    const schema = JSON.stringify(Object.values(events).map((one) => z.toJSONSchema(one, { unrepresentable: 'any' })))
    expect(schema).not.to.include('"enum"')
  })
})
