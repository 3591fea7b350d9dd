import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { account, type AccountCommand } from '../../../src/commands/accounts/account.ts'
import type { QrType } from '../../../src/events/qr/qr.ts'
import { openImageStore } from '../../../src/security/images.ts'
import type { TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { query, repeatable } from '../../support/faults.ts'
import { readPng, scanSvg } from '../../support/qr.ts'
import type { Stub } from '../../support/stub.ts'
import { qrClient, qrSetUp } from '../../support/clients/qr.ts'

const long = 'https://example.com/menu?table=7#wine'

describe(`QR codes (${repeatable})`, () => {
  const { random, picture, logos, stage, start } = qrSetUp()
  let app: TestApp
  let stub: Stub
  let key: string
  before(async () => void ({ app, stub, key } = await start()))
  after(stage.clear)
  const operator = (command: Extract<AccountCommand, { id: number }>) =>
    app.app.ledger.handler.handle(account, command, {
      account: command.id,
      actor: { kind: 'operator' },
      request: '',
      command: randomUUID(),
      at: new Date().toISOString(),
    })
  const { add, update, details, first, create, image, says, scans, events } = qrClient(
    () => app,
    () => key,
  )

  it('can be created, shown, scanned, read, updated and deleted', async () => {
    const { status, json } = await add({ type: 'link', data: long })
    expect(status).to.equal(200)
    expect(json).to.have.all.keys('error', 'id', 'link', 'revision')
    const { id, link } = json as { id: number; link: string }
    expect(link).to.match(new RegExp(`^${app.app.baseUrl}/qr/[a-km-np-z2-9]{8}$`))
    const { pathname } = new URL(link)

    expect(await says(pathname)).to.equal(`${link}/go`)
    const scan = await app.visit(`${pathname}/go`)
    expect([scan.status, scan.headers.get('Location')]).to.deep.equal([302, long])
    expect(scan.headers.get('Cache-Control')).to.equal('private, no-store')

    const { error, details: shown, data } = await scans(id, 1)
    expect(error).to.equal(0)
    const { type, data: content, foreground, background, logo, ...listed } = shown
    expect({ type, content, foreground, background, logo }).to.deep.equal({
      type: 'link',
      content: long,
      foreground: '#000000',
      background: '#ffffff',
      logo: false,
    })
    expect(listed).to.have.all.keys('id', 'link', 'scans', 'name', 'date', 'revision')
    expect(listed).to.include({ id, link, scans: 1, name: long })
    expect(shown.date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(data).to.deep.include({ clicks: 1, uniqueClicks: 1, topBrowsers: { Chrome: '1' } })
    expect(await first()).to.deep.equal(listed)

    const changed = await update(id, { data: 'https://example.com/new' })
    expect(changed.json).to.deep.equal({ error: 0, message: 'QR code has been updated.', revision: 1 })
    expect((await app.visit(`${pathname}/go`)).headers.get('Location')).to.equal('https://example.com/new')

    const gone = await app.del(`/api/qr/${id}/delete`, { key })
    expect(gone.json).to.deep.equal({
      error: 0,
      message: 'QR code has been deleted.',
      undo: { method: 'POST', path: `/api/qr/${id}/restore` },
    })
    for (const path of [pathname, `${pathname}.svg`, `${pathname}/go`])
      expect((await app.visit(path)).status).to.equal(404)
    expect((await app.del(`/api/qr/${id}/delete`, { key })).status).to.equal(404)
    expect(await first()).to.equal(undefined)
  })

  it('are listed newest first in the standard envelope', async () => {
    const { key: mine } = await app.register()
    for (const n of [1, 2, 3]) await create({ type: 'text', data: `text ${n}` }, mine)
    const { json } = await app.get('/api/qr?limit=2&page=2', { key: mine })
    expect(json['error']).to.equal('0')
    const { qrs, ...envelope } = json['data']
    expect(envelope).to.deep.equal({ result: 3, perpage: 2, currentpage: 2, nextpage: 2, maxpage: 2 })
    expect(qrs.map((row: { name: string }) => row.name)).to.deep.equal(['text 1'])
    expect(qrs[0]).to.have.all.keys('id', 'link', 'scans', 'name', 'date', 'revision')
    expect(qrs[0].scans).to.equal(0)
    const beyond = (await app.get('/api/qr?limit=2&page=9', { key: mine })).json['data']
    expect([beyond.result, beyond.qrs]).to.deep.equal([3, []])
  })

  describe('encode the data of their type', () => {
    const vcard =
      'BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lee;Ann;;;\r\nFN:Ann Lee\r\nTEL;TYPE=CELL:+1 555 0100\r\nEND:VCARD\r\n'
    const network = 'WIFI:T:WPA;S:Café 7;P:s3cret\\;word;;'
    const held: readonly (readonly [QrType, unknown, string, string])[] = [
      ['text', 'Grüße, 世界', 'Grüße, 世界', 'Grüße, 世界'],
      ['text', 2026, '2026', '2026'],
      ['phone', '+1 555 010 0199', 'tel:+15550100199', '+1 555 010 0199'],
      ['email', 'ann@example.com', 'mailto:ann@example.com', 'ann@example.com'],
      [
        'email',
        { email: 'ann@example.com', subject: 'Tea & cake', body: '' },
        'mailto:ann@example.com?subject=Tea%20%26%20cake',
        'ann@example.com',
      ],
      ['sms', { phone: '+15550100', message: 'Hi: there' }, 'SMSTO:+15550100:Hi: there', '+15550100'],
      ['sms', '+15550100', 'SMSTO:+15550100:', '+15550100'],
      ['wifi', { ssid: 'Café 7', pass: 's3cret;word' }, network, 'Café 7'],
      [
        'wifi',
        [
          { name: 'ssid', value: 'Café 7' },
          { name: 'pass', value: 's3cret;word' },
        ],
        network,
        'Café 7',
      ],
      [
        'wifi',
        [
          ['ssid', 'Café 7'],
          ['pass', 's3cret;word'],
          ['encryption', 'wpa2'],
        ],
        network,
        'Café 7',
      ],
      ['wifi', { ssid: ' Home ', pass: ' x ', hidden: true }, 'WIFI:T:WPA;S: Home ;P: x ;H:true;;', 'Home'],
      ['wifi', 'Café 7', 'WIFI:T:nopass;S:Café 7;;', 'Café 7'],
      ['wifi', { ssid: 'x', pass: 'y', encryption: 'WEP' }, 'WIFI:T:WEP;S:x;P:y;;', 'x'],
      ['wifi', 'WIFI:T:SAE;S:x;P:y;;', 'WIFI:T:SAE;S:x;P:y;;', 'WIFI:T:SAE;S:x;P:y;;'],
      ['vcard', { fname: 'Ann', lname: 'Lee', cell: '+1 555 0100', owner: 'nobody' }, vcard, 'Ann Lee'],
      [
        'vcard',
        [
          { name: 'fname', value: 'Ann' },
          { name: 'lname', value: 'Lee' },
          { name: 'cell', value: '+1 555 0100' },
        ],
        vcard,
        'Ann Lee',
      ],
      ['vcard', 'Ann', 'BEGIN:VCARD\r\nVERSION:3.0\r\nN:;Ann;;;\r\nFN:Ann\r\nEND:VCARD\r\n', 'Ann'],
      ['vcard', vcard, vcard, 'BEGIN:VCARD VERSION:3.0 N:Lee;Ann;;; FN:Ann Lee TEL;TYPE=CELL:+1 555 0100 END:VCARD'],
    ]
    for (const [type, data, payload, name] of held)
      it(`${type}: ${JSON.stringify(data).slice(0, 80)}`, async () => {
        const { id, path } = await create({
          type,
          data,
          foreground: 'rgb(20,40,90)',
          logo: `data:image/png;base64,${logos.png.toString('base64')}`,
        })
        expect(await says(path)).to.equal(payload)
        expect(scanSvg((await image(`${path}.svg`)).bytes.toString())).to.equal(payload)
        expect((await details(id)).name).to.equal(name)
        expect((await app.visit(`${path}/go`)).status).to.equal(404)
      })
  })

  it('have the requested name, else one derived from the data, also after an update', async () => {
    const { id } = await create({ type: 'text', data: 'Hello', name: 'Door' })
    const { id: other } = await create({ type: 'text', data: 'Hello' })
    for (const one of [id, other]) await update(one, { data: 'Bye' })
    expect([(await details(id)).name, (await details(other)).name]).to.deep.equal(['Door', 'Bye'])
    await update(id, { data: 'Bye', name: '' })
    await update(other, { data: 'Bye', name: 'Gate' })
    expect([(await details(id)).name, (await details(other)).name]).to.deep.equal(['Bye', 'Gate'])
  })

  it('keep type, colors and logo that are not sent', async () => {
    const colours = { foreground: '#204080', background: 'rgb(255, 255, 220)' }
    const { id, path } = await create({
      type: 'text',
      data: 'Hello',
      ...colours,
      logo: `http://pictures.example:${stub.port}/logo.jpg`,
    })
    const before = await image(`${path}.svg`)
    expect(before.bytes.toString()).to.include('#204080').and.include('#ffffdc').and.include('<image ')
    await update(id, { data: 'Bye', type: 'link' })
    const after = (await image(`${path}.svg`)).bytes.toString()
    expect(after).to.include('#204080').and.include('#ffffdc').and.include('<image ')
    expect(scanSvg(after)).to.equal('Bye')
    await update(id, { data: 'Bye', logo: null, foreground: '', background: '#fff' })
    const plain = (await image(`${path}.svg`)).bytes.toString()
    expect(plain).to.include('#000000').and.include('#ffffff').and.not.include('<image ')
    expect((await events(id)).map(({ type }) => type)).to.deep.equal(['QrCreated', 'QrUpdated', 'QrUpdated'])
  })

  it('emit no event when an update changes nothing', async () => {
    const logo = `http://pictures.example:${stub.port}/logo.png`
    const { id } = await create({ type: 'wifi', data: { ssid: 'Home', pass: 'x' }, logo })
    for (const data of [
      { ssid: 'Home', pass: 'x' },
      [
        ['ssid', 'Home'],
        ['pass', 'x'],
      ],
    ])
      expect((await update(id, { data, logo })).status).to.equal(200)
    expect(await events(id)).to.have.length(1)
  })

  it('fetch a logo once and store it, at most 256 x 256', async () => {
    const asked = stub.requests.length
    const { id, path } = await create({
      type: 'text',
      data: 'Hello',
      logo: `http://pictures.example:${stub.port}/logo.png`,
    })
    await image(path)
    await image(`${path}?size=1000`)
    expect(stub.requests.length - asked).to.equal(1)
    const [created] = await events(id)
    const { db, keys } = app.app.ledger
    const { account, logoHash } = created!.data
    const kept = readPng((await openImageStore(db, keys).find(Number(account), String(logoHash)))!)
    expect([kept.width, kept.height, ...kept.data]).to.deep.equal([64, 48, ...picture.data])
  })

  it('return the same 404 for another account as for an unknown id', async () => {
    const { id } = await create({ type: 'text', data: 'x' })
    const { key: other } = await app.register()
    const ask = async (of: number | string, by: string): Promise<Answer[]> => [
      await app.get(`/api/qr/${of}`, { key: by }),
      await app.put(`/api/qr/${of}/update`, { key: by, body: { data: 'y' } }),
      await app.put(`/api/qr/${of}/update`, { key: by, body: {} }),
      await app.del(`/api/qr/${of}/delete`, { key: by }),
    ]
    const answers = [...(await ask(id, other)), ...(await ask(999_999, other))]
    for (const { status, text } of answers) expect([status, text]).to.deep.equal([404, answers[0]!.text])
    expect(await details(id)).to.include({ name: 'x' })
  })

  it('are hidden while their account is disabled', async () => {
    const { key: mine, id } = await app.register()
    const { path } = await create({ type: 'link', data: long }, mine)
    const both = async () => [(await image(path)).status, (await app.visit(`${path}/go`)).status]
    await operator({ type: 'DisableAccount', id })
    expect(await until(both, ([status]) => status === 404)).to.deep.equal([404, 404])
    await operator({ type: 'EnableAccount', id })
    expect(await until(both, ([status]) => status === 200)).to.deep.equal([200, 302])
  })

  it('seal personal data in the log and lose it when the account is erased', async () => {
    const canary = `canary-${random(1_000_000)}`
    const { key: mine, id: owner } = await app.register()
    const { id, path } = await create({ type: 'wifi', data: { ssid: canary, pass: `secret-${canary}` } }, mine)
    await create({ type: 'vcard', data: { fname: canary } }, mine)
    await app.put(`/api/qr/${id}/update`, { key: mine, body: { data: { ssid: canary, pass: `other-${canary}` } } })
    expect(await says(path)).to.equal(`WIFI:T:WPA;S:${canary};P:other-${canary};;`)
    const places = async () => {
      const tables = await query<{ name: string }>(
        app.connection,
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('log', 'read', 'state')`,
      )
      const all = tables.map(({ name }) => `select '${name}' as name from ${name} t where t::text like $1`)
      const found = await query<{ name: string }>(app.connection, all.join(' union '), [`%${canary}%`])
      return found.map(({ name }) => name)
    }
    expect((await places()).every((name) => /^read\.(?:past_)?qrs_v/.test(name))).to.equal(true)
    await operator({ type: 'EraseAccount', id: owner })
    expect(await until(places, (found) => found.length === 0)).to.deep.equal([])
    expect(
      (
        await until(
          () => image(path),
          ({ status }) => status === 404,
        )
      ).status,
    ).to.equal(404)
  })

  it('are read from their stream while the tables lag', async () => {
    const [changed, gone] = [
      await create({ type: 'text', data: 'before' }),
      await create({ type: 'text', data: 'gone' }),
    ]
    const holder = await stage.connect(app.connection)
    await holder.query('begin; select * from read.checkpoints for update')
    const writes = Promise.all([
      update(changed.id, { data: 'after' }),
      app.del(`/api/qr/${gone.id}/delete`, { key }),
      add({ type: 'text', data: 'made late' }),
    ])
    expect(
      await until(
        () => says(changed.path),
        (said) => said === 'after',
      ),
    ).to.equal('after')
    expect(
      (
        await until(
          () => image(gone.path),
          ({ status }) => status === 404,
        )
      ).status,
    ).to.equal(404)
    const [updated, , late] = await writes
    expect([updated.status, updated.headers.get('X-Projection-Pending')]).to.deep.equal([200, '1'])
    const { pathname } = new URL(String(late.json['link']))
    expect(await says(pathname)).to.equal('made late')
    expect(await details(Number(late.json['id']))).to.include({ name: 'made late', logo: false })
    await holder.query('rollback')
    expect(await until(first, (row) => row?.name === 'made late')).to.include({ id: late.json['id'] })
    expect(await says(pathname)).to.equal('made late')
  })
})
