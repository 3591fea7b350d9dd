import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Receipt } from '../../../src/events/proof/receipt.ts'
import { idSequence, lostIds } from '../../../src/postgres/ids.ts'
import { startTestApp, type TestApp, urlOf } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { runCommand } from '../../support/process.ts'
import { skip } from '../../support/skip.ts'

const run = promisify(execFile)
const verifier = join(import.meta.dirname, '../../../docs/verify.py')

describe('proofs of a service', function () {
  this.timeout(300_000)
  let app: TestApp
  let key = ''
  let other = ''
  let vkey = ''
  let link = ''
  let click = ''
  let registered = ''
  let claimed = ''

  const settings = () => ({ DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir, SECRET: 'a secret for tests only' })
  const command = (...args: string[]) => runCommand(args, settings())
  const succeed = async (...args: string[]) => {
    const { code, out, err } = await command(...args)
    expect(code, err).to.equal(0)
    return out
  }
  const file = async (name: string, text: string) => {
    const path = join(app.dir, name)
    await writeFile(path, text)
    return path
  }
  const python = (...args: string[]) =>
    run('python3', [verifier, ...args]).then(
      ({ stdout }) => ({ code: 0, out: stdout, err: '' }),
      (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
        code: error.code,
        out: error.stdout,
        err: error.stderr,
      }),
    )
  const receiptOf = (path: string, of = key) =>
    until(
      () => app.get(path, { key: of }),
      ({ status }) => status !== 409,
    )

  before(async () => {
    app = await startTestApp({ CHECKPOINT_SECONDS: '1' })
    ;[key, other] = [(await app.register()).key, (await app.register()).key]
    await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'proved' } })
    await app.visit('/proved')
    await app.visit('/proved')
    const { rows } = await until(
      () =>
        app.app.ledger.db.raw<{ rows: { position: string; type: string }[] }>(
          `select position, type from log.events where type in ('LinkClicked', 'LinkCreated', 'AccountRegistered', 'NameClaimed') order by position`,
        ),
      (found) => found.rows.some(({ type }) => type === 'LinkClicked'),
    )
    const ordinal = (type: string) => Number(rows.find((row) => row.type === type)?.position) - 1
    link = `/api/events/${ordinal('LinkCreated')}/proof`
    click = `/api/clicks/${ordinal('LinkClicked')}-0/proof`
    registered = `/api/events/${ordinal('AccountRegistered')}/proof`
    claimed = `/api/events/${ordinal('NameClaimed')}/proof`
    vkey = (await succeed('proof', 'key')).trim()
  })
  after(() => app.close())

  it('gives the owner of an event and of a click their receipts, which are checked without the service', async () => {
    for (const path of [link, click]) {
      const { status, json, text } = await receiptOf(path)
      expect(status, text).to.equal(200)
      expect(Buffer.byteLength(JSON.stringify(json['proof']))).to.be.at.most(2048)
      const good = await file('receipt.json', text)
      expect(await succeed('proof', 'verify', good, '--key', vkey)).to.match(
        /^Valid: event \d+ is in linkledger\/log\//,
      )
      const bad = await file('bad.json', text.replace('example.com', 'example.org'))
      const refused = await command('proof', 'verify', bad, '--key', vkey)
      expect([refused.code, refused.err]).to.deep.equal([1, refused.err])
      expect(refused.err).to.include('the receipt is not valid')
      expect((await app.get(path, { key: other })).status).to.equal(404)
      expect((await app.get(path)).status).to.equal(401)
    }
    for (const path of ['events/x', 'events/-1', 'events/99999999', 'events/1.5', 'clicks/1', 'clicks/1-2000'])
      expect((await app.get(`/api/${path}/proof`, { key })).status, path).to.equal(404)
    expect((await command('proof', 'verify', 'none.json', '--key', vkey)).code).to.equal(1)
    expect((await command('proof', 'verify', 'none.json', '--key', 'x')).code).to.equal(2)
  })

  it('shows a key no event of its account that the stream of events hides from it', async () => {
    const { json } = await app.post('/api/key/add', { key, body: { name: 'reader', scopes: ['read'] } })
    const reader = String(json['key'])
    expect((await receiptOf(link)).status).to.equal(200)
    const status = async (path: string, of: string) => (await app.get(path, { key: of })).status
    expect(await Promise.all([status(link, reader), status(registered, key)])).to.deep.equal([200, 200])
    expect(await Promise.all([status(registered, reader), status(claimed, key)])).to.deep.equal([404, 404])
  })

  it('gives no receipt of an event that was changed in the database, and names the command that finds the change', async () => {
    await receiptOf(link)
    const position = 1 + Number(/\d+/.exec(link)![0])
    const change = (sign: '+' | '-') =>
      app.app.ledger.db.raw(`update log.events set at = at ${sign} interval '1 s' where position = ?`, [position])
    await change('+')
    const { status, json } = await app.get(link, { key })
    await change('-')
    expect(status, json['message']).to.equal(500)
    expect(json['message']).to.include('`linkledger verify`')
    expect((await app.get(link, { key })).status).to.equal(200)
  })

  it('answers 503 while a hash of the tree is damaged, and names the cure', async () => {
    await receiptOf(link)
    // a tree that grows meanwhile would be made of damaged hashes
    const [size] = await until(
      async () => {
        const { text } = await app.get('/log/checkpoint')
        return [Number(text.split('\n')[1]), await app.app.ledger.ordinals.head()] as const
      },
      ([signed, events]) => signed === events,
    )
    const damage = () =>
      app.app.ledger.db.raw(
        `update read.tiles set hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0)) where level = 0`,
      )
    await damage()
    const answers = [await app.get(link, { key }), await app.get(`/log/consistency/${size - 1}`)]
    await damage()
    for (const { status, text } of answers) {
      expect(status, text).to.equal(503)
      expect(text)
        .to.include('The hashes of the log do not fit its signed checkpoint')
        .and.to.include('linkledger verify')
    }
    expect((await app.get(link, { key })).status).to.equal(200)
  })

  it('serves the checkpoint and the tiles to everyone, and nothing else below /log/', async () => {
    await receiptOf(click)
    const checkpoint = await app.get('/log/checkpoint')
    expect(checkpoint.status).to.equal(200)
    expect(checkpoint.text).to.match(
      /^linkledger\/log\/[0-9a-f-]{36}\n\d+\n[A-Za-z0-9+/]{43}=\n\n— linkledger\/log\/\S+ \S+\n$/,
    )
    const size = Number(checkpoint.text.split('\n')[1])
    const tile = await app.get(`/log/tile/0/000.p/${size}`)
    expect([tile.status, tile.headers.get('Content-Length')]).to.deep.equal([200, String(size * 32)])
    expect(tile.headers.get('Cache-Control')).to.include('immutable')
    for (const path of ['', 'tile/0/000', 'tile/0/000.p/255', 'tile/entries/000', 'x'])
      expect((await app.get(`/log/${path}`)).status, path).to.equal(404)
    expect((await app.post('/log/checkpoint', {})).status).to.equal(405)
  })

  it('is verified by a program that has only the documentation', async function () {
    await run('python3', ['--version']).catch(() => skip(this, 'python3 is not installed', 'install it'))
    const { text } = await receiptOf(click)
    const good = await file('receipt.json', text)
    expect((await run('python3', [verifier, 'receipt', good, vkey])).stdout).to.match(
      /^VALID: event \d+ of \d+\n\{"account"/,
    )
    const given = JSON.parse(text) as Receipt
    const { proof } = given
    const [signature] = proof.checkpoint.split('\n').slice(-2)
    const unknown = signature!.replace(/ [^ ]+$/, ` ${Buffer.alloc(68, 7).toString('base64')}`)
    const cosigned = await file(
      'cosigned.json',
      JSON.stringify({ ...given, proof: { ...proof, checkpoint: `${proof.checkpoint}${unknown}\n` } }),
    )
    expect((await python('receipt', cosigned, vkey)).out).to.match(/^VALID/)
    expect(await succeed('proof', 'verify', cosigned, '--key', vkey)).to.match(/^Valid/)
    const hostile: readonly (string | object)[] = [
      text.replaceAll('example.com', 'example.org'),
      // the two visits may be in one event or in two
      { ...given, proof: { ...proof, click: { ...proof.click, index: proof.click!.index === 0 ? 1 : 0 } } },
      text.replaceAll('linkledger/log', 'linkledger/lag'),
      { ...given, proof: { ...proof, index: true } },
      { ...given, proof: { ...proof, path: [...proof.path, 'AAAA'] } },
      { ...given, proof: { ...proof, checkpoint: proof.checkpoint.replace(signature!, unknown) } },
      { ...given, proof: { ...proof, click: { index: -1, path: [] } } },
      { event: [], proof: [] },
      '['.repeat(100_000),
    ]
    // one after another: a command prints to the output of this process
    for (const [i, one] of hostile.entries()) {
      const bad = await file(`bad-${i}.json`, typeof one === 'string' ? one : JSON.stringify(one))
      if (i % 2 === 0) {
        const { code, err } = await python('receipt', bad, vkey)
        expect([code, err.startsWith('NOT VALID: ')], `${i}: ${err}`).to.deep.equal([1, true])
      }
      const { err } = await command('proof', 'verify', bad, '--key', vkey)
      expect(err, String(i)).to.match(/is not a receipt|is not valid/)
    }
    // JSON has one kind of numbers
    const whole = await file('whole.json', text.replace(/"index": ?(\d+)/g, '"index":$1.0'))
    expect((await python('receipt', whole, vkey)).out).to.match(/^VALID/)
    expect(await succeed('proof', 'verify', whole, '--key', vkey)).to.match(/^Valid/)
    // a byte that is no text, which some programs read as U+FFFD
    const raw = await file('raw.json', text.replace('"event"', '"\ufffd":1,"event"'))
    await writeFile(
      raw,
      Buffer.from((await readFile(raw)).toString('latin1').replace('\u00ef\u00bf\u00bd', '\u00ff'), 'latin1'),
    )
    expect((await python('receipt', raw, vkey)).err).to.match(/^NOT VALID: /)
    expect((await command('proof', 'verify', raw, '--key', vkey)).err).to.include('is no text in UTF-8')
    const refused = await file('refused.json', '{"error":1,"message":"There is no such event."}\u001b[2J')
    const { err } = await command('proof', 'verify', refused, '--key', vkey)
    expect(err).to.contain('is not a receipt: it begins with {"error":1,"message":"There is no such event."} [2J')
    const { text: kept } = await app.get('/log/checkpoint')
    const checkpoint = await file('checkpoint.txt', kept)
    const tiles = await run('python3', [verifier, 'tiles', `${app.address}/log`, checkpoint, vkey])
    expect(tiles.stdout).to.match(/^VALID: \d+ events, the first \d+ are unchanged/)
  })

  it('proves that the log begins with a checkpoint that was kept, by the API, the command line and the program', async function () {
    await run('python3', ['--version']).catch(() => skip(this, 'python3 is not installed', 'install it'))
    const { text: kept } = await app.get('/log/checkpoint')
    const size = Number(kept.split('\n')[1])
    await app.post('/api/url/add', { key, body: { url: 'https://example.com/later' } })
    const { status, json, text } = await until(
      () => app.get(`/log/consistency/${size}`),
      (answer) => Number(String(answer.json['checkpoint']).split('\n')[1]) > size,
    )
    expect([status, json['first']], text).to.deep.equal([200, size])
    const [checkpoint, proof] = [await file('kept.txt', kept), await file('proof.json', text)]
    const [printed, said] = [
      await file('printed.json', await succeed('proof', 'consistency', checkpoint)),
      new RegExp(`^VALID: \\d+ events, the first ${size} are unchanged\n$`),
    ]
    for (const one of [proof, printed, `${app.address}/log`])
      expect((await python('consistency', one, checkpoint, vkey)).out).to.match(said)
    const extended = ['proof', 'extends', proof, '--key', vkey, '--checkpoint'] as const
    expect(await succeed(...extended, checkpoint)).to.match(/^Valid: the \d+ events of /)

    // the same log, written again from the middle on
    const forged = await file(
      'forged.json',
      JSON.stringify({ ...json, path: (json['path'] as string[]).map(() => Buffer.alloc(32, 7).toString('base64')) }),
    )
    expect((await python('consistency', forged, checkpoint, vkey)).err).to.match(/^NOT VALID: /)
    const refused = await command('proof', 'extends', forged, '--key', vkey, '--checkpoint', checkpoint)
    expect([refused.code, refused.err]).to.deep.equal([1, refused.err])
    expect(refused.err).to.include('the proof is not valid')
    for (const path of ['0', '999999', '-1', '1e3', '1/2', '']) {
      const answer = await app.get(`/log/consistency/${path}`)
      expect(answer.status, path).to.equal(404)
    }
  })

  it('prints a certificate when an account is erased, which is a receipt of its own', async () => {
    const { id, key: gone } = await app.register()
    await app.post('/api/url/add', { key: gone, body: { url: 'https://example.com/gone', notes: 'private' } })
    const ordinal = (await app.app.ledger.ordinals.head()) - 1
    const earlier = await receiptOf(`/api/events/${ordinal}/proof`, gone)
    expect(earlier.json['event'], 'what is sealed').to.include('"notes"').and.not.to.include('private')
    const out = await succeed('account', 'erase', `id:${id}`, '--yes')
    const [, certificate = ''] = /^Certificate of the erasure: (\{.*\})$/m.exec(out) ?? []
    const { account, destroyed } = JSON.parse(certificate) as {
      account: number
      destroyed: { name: string; mark: string }
    }
    expect([account, destroyed.name]).to.deep.equal([id, `account-${id}`])
    expect(Receipt.parse(JSON.parse(certificate)).event).to.include('"AccountErased"')
    const { rows } = await app.app.ledger.db.raw<{ rows: { email: string }[] }>(
      `select data->>'email' as email from log.events where type = 'AccountRegistered' and stream = ?`,
      [`account-${id}`],
    )
    expect(rows[0]?.email.startsWith(`${destroyed.mark}.`), 'what is sealed names the destroyed key').to.equal(true)
    const path = await file('certificate.json', certificate)
    expect(await succeed('proof', 'verify', path, '--key', vkey)).to.include('AccountErased')
    type Disk = { readonly disk?: { readonly event: string } }
    const complete = await until(
      () => succeed('account', 'certificate', `id:${id}`),
      (text) => (JSON.parse(text) as Disk).disk !== undefined,
    )
    expect(JSON.parse(complete)).to.deep.include({ account, destroyed })
    expect((JSON.parse(complete) as Disk).disk?.event)
      .to.include('"AccountErasedOnDisk"')
      .and.include('"wal":false')
    const both = await succeed('proof', 'verify', await file('both.json', complete), '--key', vkey)
    expect(both).to.include('"AccountErased"').and.include('"AccountErasedOnDisk"')
    expect((await app.get('/api/account', { key: gone })).status).to.be.oneOf([401, 404])
    // what was proved before still is, to those who have the receipt and to the operator
    const kept = await file('kept.json', earlier.text)
    const again = await file('again.json', await succeed('proof', 'event', String(ordinal)))
    for (const one of [kept, again])
      expect(await succeed('proof', 'verify', one, '--key', vkey)).to.include(String(earlier.json['event']))
    expect((await app.get(`/api/events/${ordinal}/proof`, { key: gone })).status).to.equal(401)
  })

  it('says that the log holds, and at which event it does not', async () => {
    const good = await file('checkpoint.txt', (await app.get('/log/checkpoint')).text)
    const holds = await succeed('verify', '--tables', '--checkpoint', good)
    expect(holds)
      .to.include('The log holds')
      .and.to.match(/tables +exact through event \d+ \(/)
    const other = await file('other.txt', 'no checkpoint\n')
    expect((await command('verify', '--checkpoint', other)).err).to.include(`${other} is no checkpoint`)
    await app.app.ledger.db.raw(
      `update log.events set data = replace(data::text, 'example.com', 'example.org')::json where type = 'LinkCreated'`,
    )
    const { code, err } = await command('verify')
    expect(code).to.equal(1)
    expect(err).to.match(
      /event \d+ \(LinkCreated of link \d+, revision 0, position \d+\) is not the one that was added to the tree/,
    )
    // as after a restored backup: what was signed is given up, and the tree grows again
    expect((await command('proof', 'restart')).code, 'without a yes').to.equal(2)
    const restarted = await succeed('proof', 'restart', '--yes')
    expect(restarted).to.include('is not the one that was added').and.to.include('— linkledger/log/')
    expect((await receiptOf(link)).json['event']).to.include('example.org')
    expect(await succeed('verify')).to.include('The log holds')
    // a log that has gone back together with its checkpoints holds, too
    const next = idSequence(app.app.ledger.db, 'link')
    const id = await next()
    expect(await succeed('proof', 'restart', '--yes')).to.include('nothing to give up')
    expect(await next()).to.equal(id + lostIds + 1)
    // a checkpoint that was kept elsewhere still shows it
    expect((await command('verify', '--checkpoint', good)).err).to.include('the log was changed')
  })
})
