import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import type { OwnedCommand } from '../../../src/commands/owned/owned.ts'
import { qr } from '../../../src/commands/qr/qr.ts'
import type { QrFields, QrPersonal } from '../../../src/events/qr/qr.ts'
import { pngOf } from '../../../src/qr/logo.ts'
import type { TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { qrClient, qrSetUp } from '../../support/clients/qr.ts'
import { query, repeatable } from '../../support/faults.ts'
import { noise, readPng } from '../../support/qr.ts'

describe(`logos of QR codes (${repeatable})`, () => {
  const { random, picture, logos, stage, start } = qrSetUp()
  const inline = (png: Buffer) => `data:image/png;base64,${png.toString('base64')}`
  const [logo, another] = [inline(logos.png), inline(pngOf(noise(30, 30, random)))]
  const base64 = logos.png.toString('base64')
  let app: TestApp
  let key: string
  let account: number
  before(async () => {
    ;({ app } = await start())
  })
  beforeEach(async () => {
    ;({ key, id: account } = await app.register())
  })
  after(stage.clear)
  const { update, create, image, events } = qrClient(
    () => app,
    () => key,
  )
  const images = (of = account) =>
    query<{ hash: string; text: string }>(
      app.connection,
      `select hash, encode(sealed, 'escape') as text from state.images where account = $1`,
      [of],
    )
  /** Returns the pixels of the logo in the SVG of a code; undefined without a logo. */
  const logoIn = async (path: string) => {
    const { status, bytes } = await image(`${path}.svg`)
    expect(status).to.equal(200)
    const [, png] = /href="data:image\/png;base64,([^"]+)"/.exec(bytes.toString()) ?? []
    return png === undefined ? undefined : readPng(Buffer.from(png, 'base64')).data
  }
  /** Creates a code as release 0.1.0 did, with its logo in the event. */
  const createOld = async () => {
    const { handler } = app.app.ledger
    const alias = `old-${random(1_000_000)}`
    const fields = { ...qr.initialState.fields, type: 'text' as const, alias, name: 'Old', data: '"Old"', logo: base64 }
    const { id } = await handler.create(
      qr,
      async (past = 100_000) => past + random(100_000),
      (id): OwnedCommand<QrFields & QrPersonal> => ({ type: 'Create', id, account, fields, token: randomUUID() }),
      () => ({ account, actor: { kind: 'service' }, request: '', command: randomUUID(), at: new Date().toISOString() }),
    )
    const path = `/qr/${alias}`
    await until(
      () => image(path),
      ({ status }) => status === 200,
    )
    return { id, path }
  }

  it('are stored once outside of the events, which only name them', async () => {
    const { id, path } = await create({ type: 'text', data: 'Hello', logo })
    const other = await create({ type: 'text', data: 'Bye', logo })
    await update(id, { data: 'Hello', logo: another })
    await update(id, { data: 'Hello', logo })
    const all = [...(await events(id)), ...(await events(other.id))]
    expect(all).to.have.length(4)
    for (const event of all) expect(JSON.stringify(event).length, event.type).to.be.below(600)
    expect(await images()).to.have.length(2)
    expect(await logoIn(path)).to.deep.equal(picture.data)
    expect(await logoIn(other.path)).to.deep.equal(picture.data)
  })

  it('are unreadable in the database, and erased with their account only', async () => {
    const { key: second, id: other } = await app.register()
    const mine = await create({ type: 'text', data: 'Hello', logo })
    const theirs = await create({ type: 'text', data: 'Hello', logo }, second)
    const [[one], [two]] = [await images(), await images(other)]
    expect(one!.hash).not.to.equal(two!.hash)
    expect(one!.text).not.to.include('IHDR')
    await app.app.ledger.keys.destroy([account])
    expect([await images(), await images(other)].map(({ length }) => length)).to.deep.equal([0, 1])
    expect(await logoIn(theirs.path)).to.deep.equal(picture.data)
    expect(await events(mine.id)).to.have.length(1)
  })

  it('are stored durably before the event that names them', async () => {
    // an event that names a logo cannot be stored unless the logo is committed
    await query(
      app.connection,
      `create function log.requires_logo() returns trigger language plpgsql as $$ begin
         if exists (select from state.images where hash = new.data->>'logoHash') then return new; end if;
         raise exception 'the logo is not stored';
       end $$;
       create trigger requires_logo before insert on log.events for each row
       when (new.data->>'logoHash' is not null) execute function log.requires_logo()`,
    )
    try {
      const { id, path } = await create({ type: 'text', data: 'Hello', logo })
      expect((await update(id, { data: 'Hello', logo: another })).status).to.equal(200)
      expect(await logoIn(path)).to.have.length(30 * 30 * 4)
    } finally {
      await query(app.connection, 'drop function log.requires_logo cascade')
    }
  })

  it('are removed with null, and an update that sends the same logo emits no event', async () => {
    const { id, path } = await create({ type: 'text', data: 'Hello', logo })
    await update(id, { data: 'Hello', logo })
    expect(await events(id)).to.have.length(1)
    await update(id, { data: 'Hello', logo: null })
    await update(id, { data: 'Hello', logo: null })
    expect((await events(id)).slice(1).map(({ data }) => data)).to.deep.equal([{ id, changes: { logoHash: null } }])
    expect(await logoIn(path)).to.equal(undefined)
  })

  it('are drawn, kept, replaced and removed when an older release has stored them inside the event', async () => {
    const { id, path } = await createOld()
    expect(await logoIn(path)).to.deep.equal(picture.data)
    await update(id, { data: 'Old', logo })
    expect(await events(id), 'with the same logo').to.have.length(1)
    await update(id, { data: 'New' })
    expect(await logoIn(path)).to.deep.equal(picture.data)
    await update(id, { data: 'New', logo: another })
    const [, , replaced] = await events(id)
    expect(replaced!.data['changes']).to.have.all.keys('logo', 'logoHash')
    expect(replaced!.data['changes']).to.include({ logo: null })
    expect(await logoIn(path)).to.have.length(30 * 30 * 4)

    const removed = await createOld()
    await update(removed.id, { data: 'Old', logo: null })
    expect((await events(removed.id))[1]!.data).to.deep.equal({ id: removed.id, changes: { logo: null } })
    expect(await logoIn(removed.path)).to.equal(undefined)
  })

  it('inside events are cleared from the read tables when the account is erased', async () => {
    const { id } = await createOld()
    const { handler, tables } = app.app.ledger
    const at = new Date().toISOString()
    await handler.handle(
      accounts,
      { type: 'EraseAccount', id: account },
      { account, actor: { kind: 'operator' }, request: '', command: randomUUID(), at },
    )
    const row = () =>
      query<{ logo: string | null }>(app.connection, `select logo from ${tables.name('qrs')} where id = ${id}`)
    expect(await until(row, (rows) => rows.length === 0)).to.deep.equal([])
  })

  it('that are missing leave a code without a logo and one line in the logs', async () => {
    const lines: object[] = []
    const { log } = app.app.ledger
    const { warn } = log
    log.warn = (line: object) => void lines.push(line)
    stage.later(() => (log.warn = warn))

    const { id, path } = await create({ type: 'text', data: 'Hello', logo })
    const [{ hash } = { hash: '' }] = await images()
    await query(app.connection, 'delete from state.images where account = $1', [account])
    const answers = [await image(path), await image(path), await image(`${path}?size=600`)]
    for (const { status } of answers) expect(status).to.equal(200)
    expect(await logoIn(path)).to.equal(undefined)
    expect(lines).to.deep.equal([{ id, account, logoHash: hash }])

    const etag = answers[0]!.headers.get('ETag')
    await update(id, { data: 'Hello', logo })
    expect(await logoIn(path), 'after it was sent again').to.deep.equal(picture.data)
    expect((await image(path)).headers.get('ETag')).not.to.equal(etag)
  })
})
