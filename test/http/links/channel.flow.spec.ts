import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import type { Answer } from '../../support/client.ts'
import { channelClient } from '../../support/clients/channel.ts'

/** An id, or a malformed one. */
type Id = number | string | undefined

describe('the channel API', () => {
  let app: TestApp
  let key: string
  let stranger: string
  before(async () => {
    app = await startTestApp()
    ;[{ key }, { key: stranger }] = [await app.register(), await app.register()]
  })
  after(() => app.close())

  const head = () => app.domainHead()
  const { add, create, update, listed, link, bio, qr, assign, items } = channelClient(
    () => app,
    () => key,
  )

  describe('channels', () => {
    it('creates a channel with all fields and returns them', async () => {
      const body = { name: 'Press', description: 'All of it', color: '#AbCdEf', starred: true }
      const { json } = await add(body)
      expect(json).to.deep.equal({ error: 0, id: json['id'], ...body, revision: 0 })
      expect((await listed()).channels[0]).to.deep.equal({ id: json['id'], ...body, revision: 0 })
    })

    it('requires only a name', async () => {
      for (const more of [{}, { description: null, color: null }, { description: '', color: '' }]) {
        const { json } = await add({ name: 'Plain', ...more })
        const defaults = { description: '', color: '#3b82f6', starred: false, revision: 0 }
        expect(json).to.deep.equal({ error: 0, id: json['id'], name: 'Plain', ...defaults })
      }
    })

    it('accepts a color with three or six digits, with or without the hash, and keeps its letter case', async () => {
      for (const [sent, stored] of Object.entries({ '#fff': '#ffffff', A1c: '#AA11cc', '00FF7f': '#00FF7f' }))
        expect((await add({ name: 'x', color: sent })).json).to.include({ color: stored })
    })

    it('lists channels newest first in pages', async () => {
      const { key: as } = await app.register()
      const ids: number[] = []
      for (const n of [1, 2, 3, 4, 5]) ids.unshift((await create({ name: `Channel ${n}` }, as)).id)
      const { json } = await app.get('/api/channels?limit=2&page=2', { key: as })
      expect(json['error']).to.equal('0')
      const { channels, ...envelope } = json['data']
      expect(envelope).to.deep.equal({ result: 5, perpage: 2, currentpage: 2, nextpage: 3, maxpage: 3 })
      expect(channels.map(({ id }: { id: number }) => id)).to.deep.equal(ids.slice(2, 4))
      expect(channels[0]).to.have.all.keys('id', 'name', 'description', 'color', 'starred', 'revision')
    })

    it('updates only the fields sent', async () => {
      const { id } = await create({ name: 'Old', description: 'Kept', color: '#111' })
      const answer = await update(id, { name: 'New', starred: true })
      const fields = { id, name: 'New', description: 'Kept', color: '#111111', starred: true, revision: 1 }
      expect(answer.json, 'a key may write and not read').to.deep.equal({
        error: 0,
        message: 'Channel has been updated.',
        revision: 1,
      })
      expect((await listed()).channels[0]).to.deep.equal(fields)
      expect((await update(id, { description: '', color: null })).json).to.include({ error: 0, revision: 2 })
      expect((await listed()).channels[0]).to.include({ description: '', color: '#3b82f6' })
    })

    it('emits no event when nothing changes, and ignores unknown fields', async () => {
      const { id } = await create({ name: 'Same' })
      const before = await head()
      for (const body of [{}, { name: 'Same' }, { starred: false }, { id: 1, account: 2, deleted: true }])
        expect((await update(id, body)).json).to.include({ error: 0, revision: 0 })
      expect(await head()).to.equal(before)
    })

    it('deletes a channel once', async () => {
      const { id } = await create()
      const { result } = await listed()
      expect((await app.del(`/api/channel/${id}/delete`, { key })).json).to.deep.equal({
        error: 0,
        message: 'Channel has been deleted.',
        undo: { method: 'POST', path: `/api/channel/${id}/restore` },
      })
      expect((await listed()).result).to.equal(result - 1)
      expect((await app.del(`/api/channel/${id}/delete`, { key })).status).to.equal(404)
    })

    it('names a valid value for an invalid field', async () => {
      const wrong: [object, RegExp][] = [
        [{}, /^`name` is required/],
        [{ name: '' }, /^`name` must not be empty/],
        [{ name: 7 }, /^`name` must be a string/],
        [{ name: 'x'.repeat(256) }, /^`name` must be at most 255 characters/],
        [{ name: 'x', description: 'x'.repeat(2001) }, /^`description` must be at most 2,000 characters/],
        [{ name: 'x', color: 'red' }, /^`color` must be a HEX color, for example #/],
        [{ name: 'x', color: '#12345' }, /^`color` /],
        [{ name: 'x', starred: 'true' }, /^`starred` must be true or false/],
        [{ name: 'x', starred: 1 }, /^`starred` must be true or false/],
      ]
      const { id } = await create()
      const before = await head()
      for (const [body, message] of wrong) {
        const answer = await add(body)
        expect([answer.status, answer.json['error']], JSON.stringify(body)).to.deep.equal([400, 1])
        expect(answer.json['message']).to.match(message)
        if (Object.keys(body).length > 0) expect((await update(id, body)).json['message']).to.match(message)
      }
      expect(await head()).to.equal(before)
    })
  })

  describe('channels and items of other accounts', () => {
    const malformed = ['0', '-1', '1.0', '01', '1e3', 'abc', '9007199254740993', '99999999999999999']
    const own: Record<string, number> = {}
    const theirs: Record<string, number> = {}
    const deleted: Record<string, number> = {}
    before(async () => {
      const make = async (as: string) => ({
        channel: (await create({ name: 'x' }, as)).id,
        links: (await link({}, as)).id,
        bio: (await bio({}, as)).id,
        qr: (await qr({}, as)).id,
      })
      Object.assign(own, await make(key))
      Object.assign(theirs, await make(stranger))
      Object.assign(deleted, await make(key))
      await app.del(`/api/channel/${deleted['channel']}/delete`, { key })
      await app.del(`/api/url/${deleted['links']}/delete`, { key })
      await app.del(`/api/bio/${deleted['bio']}/delete`, { key })
      await app.del(`/api/qr/${deleted['qr']}/delete`, { key })
    })
    const notMine = (kind: string) => [theirs[kind], deleted[kind], 999_999, ...malformed]
    /** Expects the same 404 for each request, and no stored event. */
    const expectNothing = async (ids: readonly Id[], ask: (id: Id) => Promise<Answer>, message: string) => {
      const before = await head()
      for (const id of ids) {
        const { status, text, json } = await ask(id)
        const problem = { code: 'not_found', params: { what: (json['params'] as { what: string }).what } }
        expect([status, text], String(id)).to.deep.equal([404, JSON.stringify({ error: 1, message, ...problem })])
      }
      expect(await head()).to.equal(before)
    }

    it("returns 404 on read, update and delete for an id that is not the account's own, for any body", async () => {
      const ids = notMine('channel')
      const path = (id: Id) => `/api/channel/${id}`
      await expectNothing(ids, (id) => app.get(path(id), { key }), 'Channel not found.')
      await expectNothing(ids, (id) => app.del(`${path(id)}/delete`, { key }), 'Channel not found.')
      for (const body of [{ name: 'Mine' }, { color: 'red' }])
        await expectNothing(ids, (id) => app.put(`${path(id)}/update`, { key, body }), 'Channel not found.')
    })

    it("returns 404 for an assignment to a channel that is not the account's own", async () => {
      for (const [type, item] of [
        ['links', own['links']],
        ['links', theirs['links']],
        ['nothing', 1],
      ] as const)
        await expectNothing(notMine('channel'), (id) => assign(id, type, item), 'Channel not found.')
    })

    it("returns 404 for an assignment of an item that is not the account's own", async () => {
      await expectNothing(notMine('links'), (id) => assign(own['channel'], 'links', id), 'Link not found.')
      await expectNothing(notMine('bio'), (id) => assign(own['channel'], 'bio', id), 'Bio page not found.')
      await expectNothing(notMine('qr'), (id) => assign(own['channel'], 'qr', id), 'QR code not found.')
      expect((await items(own['channel']!))['data'].result).to.equal(0)
    })
  })
})
