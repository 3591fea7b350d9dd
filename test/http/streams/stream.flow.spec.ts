import { randomUUID } from 'node:crypto'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import pg from 'pg'
import { pino } from 'pino'
import { z } from 'zod'
import { answer } from '../../../src/commands/pages/answer.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { ClickLine, EventLine } from '../../../src/http/streams/contract.ts'
import { accountClicks } from '../../../src/projections/history/accountclicks.ts'
import { accountEvents } from '../../../src/projections/history/accountevents.ts'
import { fill } from '../../../src/projections/engine/fill.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { newerEvent } from '../../support/newer.ts'
import { query, randomFrom, repeatable, seed } from '../../support/faults.ts'
import { appendClicks, objectsIn, readStream, sentEvents } from '../../support/stream.ts'

const isEventLine = new Ajv2020({ strict: false, validateFormats: false }).compile(
  z.toJSONSchema(EventLine, { unrepresentable: 'any' }),
)
const isClickLine = new Ajv2020({ strict: false, validateFormats: false }).compile(
  z.toJSONSchema(ClickLine, { unrepresentable: 'any' }),
)
const waits =
  'select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())'
const sse = { Accept: 'text/event-stream' }

describe(`streams of events and clicks (${repeatable})`, () => {
  let app: TestApp
  let ours: Awaited<ReturnType<TestApp['register']>>
  let theirs: Awaited<ReturnType<TestApp['register']>>
  const random = randomFrom(seed)
  const ids = { link: 0, other: 0, campaign: 0, channel: 0, qr: 0, domain: 0 }

  const create = async (path: string, body: object, key = ours.key) => {
    const { json } = await app.post(path, { key, body })
    expect(json, JSON.stringify(json)).to.include({ error: 0 })
    return json['id'] as number
  }
  const open = (path: string, headers = {}, key = ours.key) => readStream(app.address, path, { key, headers })
  /** Reads a stream that has an end. */
  const read = async (path: string, headers = {}, key = ours.key) => {
    const reading = await open(path, headers, key)
    expect(await reading.ended, path).to.equal(true)
    expect(reading.status, reading.text()).to.equal(200)
    return reading.text()
  }
  const lines = async (path: string, key = ours.key) => objectsIn(await read(path, {}, key))
  const clickCount = async (n: number) =>
    expect(
      await until(
        async () => (await lines('/api/clicks')).length,
        (found) => found >= n,
      ),
    ).to.equal(n)

  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off', STREAMS: '12', STREAMS_PER_ACCOUNT: '8' })
    theirs = await app.register('tenantb')
    await create('/api/url/add', { url: 'https://example.com/tenantb' }, theirs.key)
    ours = await app.register('tenanta')
    ids.campaign = await create('/api/campaign/add', { name: 'c' })
    ids.channel = await create('/api/channel/add', { name: 'ch' })
    ids.domain = await create('/api/domain/add', { domain: 'https://go.example' })
    ids.link = await create('/api/url/add', {
      url: 'https://example.com/a',
      campaign: ids.campaign,
      password: 'opensesame',
      tags: ['spring', 'sale'],
    })
    ids.other = await create('/api/url/add', { url: 'https://example.com/b', domain: 'https://go.example' })
    ids.qr = await create('/api/qr/add', { type: 'text', data: 'x' })
    await app.post(`/api/channel/${ids.channel}/assign/qr/${ids.qr}`, { key: ours.key })
    const [mine, foreign] = [{ account: ours.id }, { account: theirs.id, link: 999, country: 'XX' }]
    await appendClicks(
      app.app.ledger.store,
      [foreign, { ...mine, link: ids.link }, foreign, { ...mine, link: ids.other, class: 'bot', bot: 'bot' }],
      [foreign],
      [{ ...mine, link: 0, source: { kind: 'qr', id: ids.qr } }, { ...mine, link: ids.link }, foreign],
    )
    await clickCount(4)
  })
  after(() => app.close())

  describe('of events', () => {
    it('has every change of the account and its resources in the order of the log, with its number, and no secret', async () => {
      const found = await lines('/api/events')
      for (const line of found) expect(isEventLine(line), JSON.stringify([line, isEventLine.errors])).to.equal(true)
      const numbers = found.map(({ event }) => Number(event))
      expect(numbers).to.deep.equal(numbers.toSorted((a, b) => a - b))
      expect(found.map(({ type, stream }) => `${type as string} ${stream as string}`)).to.include.members([
        `AccountRegistered account-${ours.id}`,
        `CampaignCreated campaign-${ids.campaign}`,
        `LinkCreated link-${ids.link}`,
        `ItemAssignedToChannel channelitem-${ids.channel}-qr-${ids.qr}`,
      ])
      const created = found.find(({ type, stream }) => type === 'LinkCreated' && stream === `link-${ids.link}`)
      expect(created).to.deep.include({ revision: 0 })
      expect(created!['data']).to.include({ id: ids.link, url: 'https://example.com/a', campaign: ids.campaign })
      const text = JSON.stringify(found)
      for (const secret of [
        'scrypt',
        'opensesame',
        'password',
        'token',
        'hash',
        'tenantb',
        'NameClaimed',
        'LinkClicked',
      ])
        expect(text).not.to.include(secret)
    })

    it('has the changes of the account itself, with its address, only for keys with the scope account', async () => {
      const { json } = await app.post('/api/key/add', { key: ours.key, body: { name: 'reader', scopes: ['read'] } })
      const found = await lines('/api/events', String(json['key']))
      expect(found.length).to.be.greaterThan(5)
      expect(JSON.stringify(found)).not.to.match(/account-|example\.com"[^}]*email|ApiKey/)
      const { json: stats } = await app.post('/api/key/add', {
        key: ours.key,
        body: { name: 's', scopes: ['stats:read'] },
      })
      for (const path of ['/api/events', '/api/clicks'])
        expect((await app.get(path, { key: String(stats['key']) })).status).to.equal(403)
    })

    it('shows the input of visitors to the owner', async () => {
      const overlay = await create('/api/overlay/add', { type: 'message', name: 'o', message: 'Hello' })
      const fields = JSON.stringify({ email: 'visitor@x.example' })
      const command = { type: 'GiveAnswer', answer: randomUUID(), overlay, account: ours.id, link: 0, fields } as const
      await app.app.ledger.handler.handle(answer, command, systemMetadata(ours.id))
      const found = () => lines('/api/events?type=AnswerGiven')
      const [given] = await until(found, ({ length }) => length > 0)
      expect(given!['data']).to.include({ overlay, fields })
    })

    it('has events of a newer release, without their content', async () => {
      const stream = `pixel-${randomUUID()}`
      const event = { ...newerEvent(), metadata: systemMetadata(ours.id) }
      await app.app.ledger.store.append([{ stream, expected: 'no_stream', events: [event] }])
      const found = async () => (await lines('/api/events')).find((line) => line['stream'] === stream)
      expect(await until(found, Boolean)).to.include({ type: 'LinkRaptured', data: null })
    })

    it('is filtered by type, link, campaign, channel, domain and tag', async () => {
      const streams = async (query: string) => {
        const found = await lines(`/api/events?${query}`)
        return [...new Set(found.map(({ stream }) => stream as string))]
      }
      expect(await streams('type=LinkCreated')).to.have.members([`link-${ids.link}`, `link-${ids.other}`])
      expect(await streams(`link=${ids.other}`)).to.deep.equal([`link-${ids.other}`])
      expect(await streams(`campaign=${ids.campaign}`)).to.have.members([
        `campaign-${ids.campaign}`,
        `link-${ids.link}`,
      ])
      expect(await streams(`channel=${ids.channel}`)).to.have.members([
        `channel-${ids.channel}`,
        `channelitem-${ids.channel}-qr-${ids.qr}`,
        `qr-${ids.qr}`,
      ])
      expect(await streams('domain=go.example')).to.have.members([`domain-${ids.domain}`, `link-${ids.other}`])
      expect(await streams('domain=')).to.deep.equal([`link-${ids.link}`])
      expect(await streams('domain=other.example')).to.deep.equal([])
      expect(await streams('tag=Spring,sale')).to.deep.equal([`link-${ids.link}`])
      expect(await streams('tag=spring,other')).to.deep.equal([])
      expect(await streams(`link=${ids.other}&campaign=${ids.campaign}`)).to.deep.equal([])
    })
  })

  describe('of clicks', () => {
    it('has each click with the fields of the topic, and an id', async () => {
      const found = await lines('/api/clicks')
      for (const line of found) expect(isClickLine(line), JSON.stringify([line, isClickLine.errors])).to.equal(true)
      const first = Number(found[0]!['event'])
      expect(found.map(({ id }) => id)).to.deep.equal([`${first}-1`, `${first}-3`, `${first + 2}-0`, `${first + 2}-1`])
      expect(found[0]).to.deep.include({
        account: ours.id,
        link: ids.link,
        destination: 'https://example.com/a',
        agent: 'Mozilla Gecko',
        languages: ['fr', 'en'],
        visitor: 'ab',
        rules: 1,
      })
      expect(JSON.stringify(found)).not.to.include('XX')
    })

    it('is filtered by class, link, campaign, channel, domain and tag', async () => {
      const indexes = async (query: string) => (await lines(`/api/clicks?${query}`)).map(({ index }) => index)
      expect(await indexes('class=bot')).to.deep.equal([3])
      expect(await indexes('class=human,bot')).to.deep.equal([1, 3, 0, 1])
      expect(await indexes(`link=${ids.link}`)).to.deep.equal([1, 1])
      expect(await indexes(`campaign=${ids.campaign}`)).to.deep.equal([1, 1])
      expect(await indexes(`channel=${ids.channel}`)).to.deep.equal([0])
      expect(await indexes('domain=https://go.example')).to.deep.equal([3])
      expect(await indexes('tag=sale')).to.deep.equal([1, 1])
      expect(await indexes('link=999')).to.deep.equal([])
    })

    it('begins at an event or in the middle of one, and continues after the last id of a client', async () => {
      const all = (await lines('/api/clicks')).map(({ id }) => id as string)
      const event = Number(all[2]!.split('-')[0])
      const from = async (query: string) => (await lines(`/api/clicks?${query}`)).map(({ id }) => id as string)
      expect(await from(`from=${event}`)).to.deep.equal(all.slice(2))
      expect(await from(`from=${all[3]}`)).to.deep.equal(all.slice(3))
      expect(await from(`from=${all[1]}&limit=2`)).to.deep.equal(all.slice(1, 3))
      expect(await from('from=now')).to.deep.equal([])
      const after = objectsIn(await read('/api/clicks?from=0', { 'Last-Event-ID': all[1]! })).map(({ id }) => id)
      expect(after).to.deep.equal(all.slice(2))
    })

    it('is CSV on request, in which a cell is never a formula', async () => {
      const evil = {
        account: ours.id,
        link: ids.link,
        referrer: '=1+1.evil.example',
        browser: { family: 'a,"b', version: '' },
      }
      const before = await lines('/api/clicks')
      await appendClicks(app.app.ledger.store, [evil])
      await clickCount(before.length + 1)
      const text = await read(`/api/clicks?link=${ids.link}`, { Accept: 'text/csv' })
      const rows = text.trimEnd().split('\r\n')
      expect(rows[0]).to.match(/^id,event,index,at,account,link,/)
      expect(rows).to.have.length(4)
      expect(rows[3]).to.include(`,'=1+1.evil.example,"a,""b",`)
    })
  })

  describe('of any kind', () => {
    it('refuses invalid requests before it begins, and names the field', async () => {
      for (const [query, headers, field] of [
        ['from=-1', {}, 'from'],
        ['from=1e3', {}, 'from'],
        ['from=99999999', {}, 'from'],
        ['limit=0', {}, 'limit'],
        ['follow=yes', {}, 'follow'],
        ['link=x', {}, 'link'],
        ['class=all', {}, 'class'],
        ['follow=true', { Accept: 'text/csv' }, 'follow'],
        ['', { 'Last-Event-ID': 'x' }, 'Last-Event-ID'],
        ['', { 'Last-Event-ID': '99999999-1' }, 'Last-Event-ID'],
      ] as const) {
        const { status, json } = await app.get(`/api/clicks?${query}`, { key: ours.key, headers })
        expect([status, json['message']], query).to.satisfy(
          ([code, message]: [number, string]) => code === 400 && message.startsWith(`\`${field}\``),
        )
      }
      expect((await app.get('/api/events?type=Nothing', { key: ours.key })).json['message']).to.match(/^`type` must be/)
      expect((await app.get('/api/events?from=1-1', { key: ours.key })).status).to.equal(400)
    })

    it('follows the log as server-sent events, and sends the position to resume from before the first event', async () => {
      const last = (await lines('/api/events')).at(-1)!
      const reading = await open('/api/events?from=now', sse)
      expect(reading.headers['content-type']).to.match(/^text\/event-stream/)
      await reading.until((text) => text.endsWith('\n\n'))
      expect(reading.text()).to.match(new RegExp(`^retry: \\d+\nid: ${Number(last['event'])}\n\n$`))
      const id = await create('/api/url/add', { url: 'https://example.com/new' })
      await reading.until((text) => sentEvents(text).length > 0)
      const [{ id: number, data }] = sentEvents(reading.text()) as [{ id: string; data: Record<string, unknown> }]
      expect(data).to.include({ type: 'LinkCreated', stream: `link-${id}` })
      expect(number).to.equal(String(data['event']))
      reading.close()
      await app.del(`/api/url/${id}/delete`, { key: ours.key })
      const again = await open('/api/events', { ...sse, 'Last-Event-ID': number })
      await again.until((text) => sentEvents(text).length > 0)
      expect(sentEvents(again.text())[0]!.data).to.include({ type: 'LinkDeleted' })
      again.close()
    })

    it('gives every click once to a client that is cut off again and again, also while the tables are rebuilt', async () => {
      const { db, store, instance } = app.app.ledger
      const begin = (await lines('/api/clicks')).at(-1)!['id'] as string
      let written = 0
      const writing = (async () => {
        for (let n = 0; n < 30; n++) {
          const size = 1 + random(6)
          const batch = Array.from({ length: size }, () => [
            { account: ours.id, link: ids.link, revision: written++ },
            { account: theirs.id, link: 999 },
          ])
          await appendClicks(store, batch.flat())
        }
      })()
      const rebuilding = fill(
        { db, store, instance, log: pino({ level: 'silent' }) },
        [accountClicks, accountEvents],
        new AbortController().signal,
      )
      const seen: number[] = []
      let last = begin
      for (let round = 0; (seen.length < written || round < 5) && round < 500; round++) {
        const reading = await open('/api/clicks', { ...sse, 'Last-Event-ID': last })
        const wanted = 1 + random(20)
        await until(
          async () => sentEvents(reading.text()).length,
          (n) => n >= Math.min(wanted, written - seen.length),
        )
        reading.close()
        // the client has taken some of them when it is cut off
        for (const { id, data } of sentEvents(reading.text()).slice(0, wanted)) {
          seen.push(data['revision'] as number)
          last = id
        }
        if (round === 3) await rebuilding
      }
      await writing
      await rebuilding
      const rest = objectsIn(await read('/api/clicks', { 'Last-Event-ID': last }))
      const all = [...seen, ...rest.map(({ revision }) => revision as number)]
      expect(all).to.deep.equal(Array.from({ length: written }, (_, n) => n))
      expect(
        await until(
          async () => (await lines('/api/clicks')).length,
          (n) => n >= written,
        ),
      ).to.be.at.least(written)
    })

    it('limits the streams of an account and of the process, and frees those of clients that are gone', async () => {
      const free = () => app.operator.get('/metrics').then(({ text }) => /^linkledger_streams (\d+)$/m.exec(text)?.[1])
      expect(await until(free, (n) => n === '0')).to.equal('0')
      const held = await Promise.all(Array.from({ length: 8 }, () => open('/api/events?follow=true&from=now')))
      const refused = await app.get('/api/clicks', { key: ours.key })
      expect([refused.status, refused.headers.get('Retry-After')]).to.deep.equal([429, '10'])
      const others = await Promise.all(Array.from({ length: 4 }, () => open('/api/events?follow=true', {}, theirs.key)))
      expect((await app.get('/api/clicks', { key: theirs.key })).status).to.equal(503)
      for (const reading of [...held, ...others]) reading.close()
      expect(await until(free, (n) => n === '0')).to.equal('0')
      expect((await app.get('/api/clicks?limit=1', { key: ours.key })).status).to.equal(200)
      // a request for the headers alone keeps nothing either
      for (let n = 0; n < 10; n++)
        expect((await app.ask('HEAD', '/api/events?follow=true', { key: ours.key })).status).to.equal(200)
      expect(await until(free, (n) => n === '0')).to.equal('0')
    })

    it('ends for a key that is deleted, before the next line', async () => {
      const { json } = await app.post('/api/key/add', { key: ours.key, body: { name: 'short', scopes: ['read'] } })
      const reading = await open('/api/events?from=now', sse, String(json['key']))
      const ndjson = await open('/api/events?from=now&follow=true', {}, String(json['key']))
      await app.del(`/api/key/${json['id']}/delete`, { key: ours.key })
      await create('/api/url/add', { url: 'https://example.com/unseen' })
      expect(await reading.ended).to.equal(true)
      expect(reading.text())
        .to.match(/retry: \d+\n\n$/)
        .and.not.include('unseen')
      expect([await ndjson.ended, ndjson.text()]).to.deep.equal([true, ''])
    })

    it('ends for a key that may no longer read events of the account, before the next of them', async () => {
      const scopes = ['read', 'account']
      const { json } = await app.post('/api/key/add', { key: ours.key, body: { name: 'wide', scopes } })
      const reading = await open('/api/events?from=now', sse, String(json['key']))
      await app.put(`/api/key/${json['id']}/update`, { key: ours.key, body: { scopes: ['read'] } })
      await app.post('/api/key/add', { key: ours.key, body: { name: 'unseen', scopes: ['read'] } })
      expect(await reading.ended).to.equal(true)
      expect(reading.text()).not.to.include('unseen')
    })

    it('ends with a hint to connect again when the service stops', async () => {
      const second = await startTestApp({}, app.connection)
      const reading = await readStream(second.address, '/api/events?from=now', { key: ours.key, headers: sse })
      await reading.until((text) => text !== '')
      await second.close()
      expect(await reading.ended).to.equal(true)
      expect(reading.text()).to.match(/\nretry: \d+\n\n$/)
    })
  })

  it('runs one read at a time for an account, so that other accounts get their turns', async () => {
    const held = new pg.Client(app.connection)
    await held.connect()
    try {
      await held.query('begin')
      await held.query(`lock table ${app.app.ledger.tables.name('links')} in access exclusive mode`)
      const asked = Array.from({ length: 6 }, () => open('/api/events?tag=none'))
      await until(
        async () => (await query(app.connection, waits)).length,
        (waiting) => waiting > 0,
      )
      expect(objectsIn(await read('/api/events?limit=1', {}, theirs.key))).to.have.length(1)
      await held.query('rollback')
      for (const { ended } of await Promise.all(asked)) expect(await ended).to.equal(true)
    } finally {
      await held.end()
    }
  })
})
