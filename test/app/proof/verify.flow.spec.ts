import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { openProofs, originOf, signCheckpoint } from '../../../src/app/proof/proofs.ts'
import { verifyLog } from '../../../src/app/proof/verify.ts'
import { asStored } from '../../../src/events/codec.ts'
import { Receipt, verifyReceipt } from '../../../src/events/proof/receipt.ts'
import type { StoredLog } from '../../../src/events/store.ts'
import { createSignal } from '../../../src/lib/async/signal.ts'
import { createSigner, parseVerifier, type Signer, type Verifier } from '../../../src/lib/transparency/note.ts'
import { keptCheckpoints } from '../../../src/postgres/checkpoints.ts'
import { openPool } from '../../../src/postgres/database.ts'
import { dropTree, ensureTree, followTree, treeSize } from '../../../src/projections/proof/tree.ts'
import { postgresOrdinals } from '../../../src/store/ordinals.ts'
import { postgresStore } from '../../../src/store/postgres.ts'
import { click, clicked, fresh } from '../../support/events.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { noteAgain, notedPositions } from '../../../src/store/postgres/reclassified.ts'
import { history, openTestLog, type TestLog } from '../../support/log.ts'

/** The checkpoints of these tests have no numbers. */
const uncounted = { number: async () => ({ series: '', number: 0 }), note: async () => {} }

describe(`the tree over the log (${repeatable})`, () => {
  const random = randomFrom(seed)
  let log: TestLog
  let stored: StoredLog
  let signer: Signer
  let verifier: Verifier
  let pool: ReturnType<typeof openPool>

  /** Lets the tree grow to the head of the log. */
  const grow = async (engine: 'postgres' | 'eventstoredb' = 'postgres') => {
    const done = new AbortController()
    await followTree({ db: log.db, store: stored, engine }, async () => done.abort(), done.signal)
    return treeSize(log.db)
  }
  const grown = async () => signCheckpoint(log.db, signer, await grow(), uncounted)
  /** Without threads, which would take longer to start than to hash these events. */
  const verify = (outside: readonly string[] = []) => verifyLog({ db: log.db, stored, verifier, outside, threads: 1 })
  const found = async (outside?: readonly string[]) => (await verify(outside)).findings[0]

  before(async () => {
    log = await openTestLog()
    await ensureTree(log.db)
    pool = openPool(log.connection, { name: 'spec', max: 2, timeout: 5000, onError: () => {} })
    stored = await postgresStore(pool, asStored, createSignal())
    signer = createSigner(originOf(stored.logId), randomBytes(32))
    verifier = parseVerifier(signer.publicKey)!
    await log.append(history(random, 300))
    await grown()
    await log.append(history(random, 300, 1000))
    await grown()
    await log.append(history(random, 50, 2000))
    await grow()
  })
  after(async () => {
    await pool.end()
    await log.close()
  })

  it('says how many events a checkpoint has signed', async () => {
    const { events, signed, findings } = await verify()
    expect(findings).to.deep.equal([])
    expect(signed).to.equal((await keptCheckpoints(log.db)).map(({ note }) => Number(note.split('\n')[1])).at(-1))
    expect(events).to.equal(await treeSize(log.db))
    expect(events).to.be.above(signed)
  })

  describe('when the log is changed', () => {
    const alter = (sql: string) => log.db.raw(sql)
    const restore = () =>
      alter(
        `delete from log.events; insert into log.events select * from original; delete from read.tiles; insert into read.tiles select * from tree`,
      )
    before(async () => {
      await grow()
      await alter('create table original as select * from log.events; create table tree as select * from read.tiles')
    })
    afterEach(restore)
    const growAgain = async () => {
      await dropTree(log.db)
      await ensureTree(log.db)
      await grow()
    }
    /** The position of an event without an index of clicks, and its ordinal. */
    const [position, ordinal] = [203, 202]

    /** One for each way in which a log can be changed. */
    const changes: Readonly<Record<string, string>> = {
      'a flipped byte': `update log.events set data = overlay(data::text placing chr(ascii(substr(data::text, 3, 1)) + 1) from 3 for 1)::json where position = ${position}`,
      'another time': `update log.events set at = at + interval '1 ms' where position = ${position}`,
      'another stream': `update log.events set stream = stream || 'x' where position = ${position}`,
      'a removed event': `delete from log.events where position = ${position}`,
      'an inserted event': `
        update log.events set position = -position - 1 where position >= ${position};
        update log.events set position = -position where position < 0;
        insert into log.events select ${position}, 'link-x', 0, gen_random_uuid(), type, data, metadata, at from original where position = ${position}`,
      'two swapped events': `
        update log.events set position = 0 where position = ${position};
        update log.events set position = ${position} where position = ${position} + 1;
        update log.events set position = ${position} + 1 where position = 0`,
      'a log rewritten from there on': `update log.events set id = gen_random_uuid() where position >= ${position}`,
    }
    for (const [name, sql] of Object.entries(changes))
      it(`finds ${name} at its place`, async () => {
        await alter(sql)
        const finding = await found()
        expect(finding?.ordinal, finding?.text).to.equal(ordinal)
        expect(finding?.text).to.include(`event ${ordinal}`)
      })

    it('names a gap between positions, which gives later events other numbers, also after the tree is made again', async () => {
      await alter(`
        update log.events set position = -position - 10 where position >= ${position};
        update log.events set position = -position where position < 0`)
      const gap = {
        of: 'log',
        ordinal,
        text: `event ${ordinal} (...) has position ${position + 10}, and 10 positions before it that no event has: something else than the service has changed or added it`,
      }
      const findings = async () =>
        (await verify()).findings.map((one) => ({ ...one, text: one.text.replace(/\(.*?\)/, '(...)') }))
      expect(await findings()).to.deep.equal([gap])
      await growAgain()
      expect(await findings()).to.deep.equal([gap])
      await restore()
      await growAgain()
    })

    /** One for each way in which an event can be what JSON, or a clock, cannot be; each keeps the event's length of one row. */
    const strange: Readonly<Record<string, string>> = {
      'a number that is too large': `data = ('{"zz":1e999,' || substr(data::text, 2))::json`,
      'a number that is too small': `data = ('{"zz":[-1e999],' || substr(data::text, 2))::json`,
      'such a number in its metadata': `metadata = ('{"zz":1e999,' || substr(metadata::text, 2))::json`,
      'such a number in a click': `type = 'LinkClicked', data = '{"clicks":[{"link":1e999}],"salt":"x"}'::json`,
      'lists in lists': `data = (repeat('[', 3000) || repeat(']', 3000))::json`,
      'objects in objects': `data = (repeat('{"a":', 3000) || '1' || repeat('}', 3000))::json`,
    }
    for (const [name, set] of Object.entries(strange))
      it(`names an event that has ${name}, and everything else that was changed`, async () => {
        await alter(`update log.events set ${set} where position = ${position}`)
        await alter(`update log.events set id = gen_random_uuid() where position = ${position + 10}`)
        const texts = (await verify()).findings.map(({ text }) => text)
        expect(texts.join('\n')).to.match(
          new RegExp(`event ${ordinal} .* has (a number|more than 100).*no canonical form`),
        )
        expect(texts.join('\n')).to.match(new RegExp(`event ${ordinal} .* is not the one that was added`))
        expect(texts.join('\n')).to.include('the log was changed between')
      })

    it('continues after an event without a canonical form: its tree grows, and checkpoints are signed', async () => {
      const size = await treeSize(log.db)
      for (const set of Object.values(strange)) {
        await log.append(history(random, 1, 9000 + size))
        await alter(`update log.events set ${set} where position = (select max(position) from log.events)`)
        await log.append(history(random, 1, 9500 + size))
      }
      const { size: signed } = await grown()
      expect(signed).to.be.above(size + 2 * Object.keys(strange).length - 1)
      const { findings, broken } = await verify()
      expect(broken).to.deep.equal([])
      expect(findings).to.have.length(Object.keys(strange).length)
      for (const { text } of findings) expect(text).to.include('no canonical form')
      const proofs = openProofs({ db: log.db, stored, ordinals: postgresOrdinals(log.db) })
      const refused = await proofs.ofEvent(findings[0]!.ordinal).catch(String)
      expect(refused).to.match(/NoCanonicalForm: event \d+ has a number that is too large/)
      expect(await proofs.ofEvent(signed - 1)).to.have.property('proof')
      await log.db('state.checkpoints').where({ size: signed }).delete()
      await restore()
      await dropTree(log.db)
      await grow()
    })

    it('continues after an invalid time, and names its event', async () => {
      for (const at of ['infinity', '-infinity', '290000-01-01']) {
        await alter(`update log.events set at = '${at}' where position = ${position}`)
        await dropTree(log.db)
        expect(await grow()).to.be.above(position)
        expect(await grow(), 'from where it ended').to.be.above(position)
      }
      expect((await found())?.text).to.match(new RegExp(`event ${ordinal} .* has a time that is none`))
      await restore()
      await dropTree(log.db)
      await grow()
    })

    it('finds an event before the first position, which only those who read its stream see', async () => {
      const before = await verify()
      for (const [at, revision] of [
        [0, 1000],
        [-5, 1001],
      ])
        await alter(
          `insert into log.events select ${at}, stream, ${revision}, gen_random_uuid(), type, data, metadata, at from original where position = ${position}`,
        )
      const texts = (await verify()).findings.map(({ text }) => text)
      expect(texts.filter((text) => text.includes('before the first position'))).to.have.length(2)
      expect(texts.join('\n')).to.match(/revision 1001, position -5\) is before the first position/)
      expect(before.findings).to.deep.equal([])
    })

    it('finds an event with an earlier time than one before it, which its leaf does not show', async () => {
      await alter(`update log.events set at = at - interval '200 days' where position = ${position}`)
      expect((await found())?.text).to.match(
        new RegExp(`event ${ordinal} .* has a time .* before that of the events before it`),
      )
      for (const at of ['4000-01-01 BC', '20000-01-01']) {
        await alter(`update log.events set at = '${at}' where position = ${position}`)
        expect((await found())?.text, at).to.match(new RegExp(`event ${ordinal} .* has a time that is none`))
      }
      await restore()
      expect((await verify()).findings).to.deep.equal([])
    })

    it('finds a time that was moved by less than a millisecond, which its leaf does not show', async () => {
      await alter(`update log.events set at = at + interval '7 microseconds' where position = ${position}`)
      expect((await found())?.text).to.match(new RegExp(`event ${ordinal} .* has a time with a part of a millisecond`))
      await restore()
      expect((await verify()).findings).to.deep.equal([])
    })

    for (const part of ['data', 'metadata'])
      it(`finds a key in the ${part} that another one shadows, which the leaf does not show`, async () => {
        const twice = `'{' || substring(${part}::text from '"[^"]+"') || ' : "a:b\\"", ' || substr(${part}::text, 2)`
        await alter(`update log.events set ${part} = (${twice})::json where position = ${position}`)
        const { findings } = await verify()
        expect(findings.map(({ text }) => text)).to.have.length(1)
        expect(findings[0]?.text).to.match(new RegExp(`event ${ordinal} .* has a key that occurs twice`))
        await restore()
        expect((await verify()).findings).to.deep.equal([])
      })

    it('finds missing and surplus entries of the list by which readers of clicks find events', async () => {
      await alter(
        `insert into log.events select max(position) + 1, 'reclassification-1', 0, gen_random_uuid(), 'ReclassificationUndone', '{}', '{}', max(at) from original`,
      )
      expect((await verify()).findings).to.deep.equal([])
      await alter('delete from log.reclassified')
      await alter(`insert into log.reclassified values (${position})`)
      const texts = async () => (await verify()).findings.map(({ text }) => text)
      expect(await texts()).to.have.length(2)
      expect((await texts()).join()).to.match(
        /position \d+, which it should not.*ReclassificationUndone.* is not in log.reclassified/,
      )
      await noteAgain(log.db)
      expect(await texts()).to.deep.equal([])
      // that of a reclassification which is stored meanwhile
      await alter(`insert into log.reclassified select max(position) + 1 from log.events`)
      expect(await texts()).to.deep.equal([])
      await noteAgain(log.db)
      expect(await notedPositions(log.db)).to.have.length(1)
      await alter('delete from log.reclassified')
      await restore()
    })

    /** One for each way in which the place where the tree ends can be changed. */
    const ends: Readonly<Record<string, string>> = {
      'another event': 'event_id = gen_random_uuid()',
      'an earlier position': 'position = position - 3',
      'fewer events': 'size = size - 5',
      'more events': 'size = size + 5',
      'another time': `at = 'infinity'`,
    }
    for (const [name, set] of Object.entries(ends))
      it(`finds a tree that ends at ${name}, and names the cure`, async () => {
        await alter(`create table tree_end as select * from read.tree; update read.tree set ${set}`)
        const { findings } = await verify()
        await alter('delete from read.tree; insert into read.tree select * from tree_end; drop table tree_end')
        expect(findings.map(({ of }) => of)).to.deep.equal(['tree'])
        expect(findings[0]!.text).to.match(/^the tree over the log was changed where it ends.*`linkledger rebuild`/)
      })

    it('finds a checkpoint in whose place another one was put', async () => {
      const kept = await keptCheckpoints(log.db)
      const [first, last] = [kept[0]!, kept.at(-1)!]
      const put = ({ size }: typeof last, note: string) => log.db('state.checkpoints').where({ size }).update({ note })
      await put(last, first.note)
      await alter(`update log.events set id = gen_random_uuid() where position = ${last.size}`)
      await dropTree(log.db)
      await grow()
      expect((await verify()).findings.map(({ text }) => text)).to.deep.equal([
        `the checkpoint of ${last.size} events was replaced by that of ${first.size}`,
      ])
      await put(last, last.note)
      await restore()
      await dropTree(log.db)
      await grow()
    })

    it('finds that the tail is cut off', async () => {
      await alter('delete from log.events where position > 500')
      expect(await found()).to.deep.include({ ordinal: 500 })
    })

    it('finds a log that was rewritten together with its tree, by the checkpoints', async () => {
      const [first] = await keptCheckpoints(log.db)
      await alter('update log.events set id = gen_random_uuid() where position > 400')
      await dropTree(log.db)
      await grow()
      const finding = await found()
      expect(finding?.ordinal).to.equal(first!.size)
      expect(finding?.text).to.include(`between event ${first!.size} and event`)
      await signCheckpoint(log.db, signer, await treeSize(log.db), uncounted).then(
        () => expect.fail('it was signed'),
        (error: unknown) => expect(String(error)).to.include('CheckpointMismatch'),
      )
      await restore()
      await dropTree(log.db)
      await grow()
    })

    it('finds a log that was rewritten with its tree and its checkpoints, by one that is kept elsewhere', async () => {
      const kept = await keptCheckpoints(log.db)
      await alter('update log.events set id = gen_random_uuid() where position > 400')
      await dropTree(log.db)
      await log.db('state.checkpoints').delete()
      await grown()
      expect((await verify()).findings).to.deep.equal([])
      expect((await found([kept.at(-1)!.note]))?.text).to.include(`first ${kept.at(-1)!.size} events`)
      await log.db('state.checkpoints').delete()
      await log.db('state.checkpoints').insert(kept)
      await restore()
      await dropTree(log.db)
      await grow()
    })

    it('finds a tree and a checkpoint that were changed', async () => {
      await alter(
        `update read.tiles set hashes = set_byte(hashes, 32 * 100, (get_byte(hashes, 32 * 100) + 1) % 256) where level = 0 and number = 0`,
      )
      expect((await found())?.ordinal).to.equal(100)
      await restore()
      await alter(
        `update read.tiles set hashes = set_byte(hashes, 40, (get_byte(hashes, 40) + 1) % 256) where level = 1`,
      )
      expect((await found())?.text).to.match(/the tree over the log was changed above event \d+/)
      const [first] = await keptCheckpoints(log.db)
      expect((await found([first!.note.replace(/\n\d+\n/, '\n299\n')]))?.text).to.include('not signed')
    })
  })

  it('holds for a log that was not changed, and is the same when it grows again or on another engine', async () => {
    const rows = () => log.db('read.tiles').orderBy(['level', 'number'])
    const before = await rows()
    const { events, clicks, checkpoints, findings } = await verify()
    expect(findings).to.deep.equal([])
    expect([events, checkpoints]).to.deep.equal([await treeSize(log.db), 2])
    expect(clicks).to.be.above(100)
    await grow('eventstoredb')
    expect(await rows()).to.deep.equal(before)
    await grow()
    expect(await rows()).to.deep.equal(before)
  })

  it('finds one changed click among many, in threads as without them', async () => {
    const clicks = Array.from({ length: 500 }, (_, i) => click({ link: 1 + (i % 40) }))
    await log.append(
      Array.from({ length: 3 }, () => ({ stream: 'clicks-many', event: fresh(clicked(...clicks), null) })),
    )
    const size = await grow()
    expect((await verify()).findings).to.deep.equal([])
    const change = (from: string, to: string) =>
      log.db.raw(`update log.events set data = regexp_replace(data::text, ?, ?)::json where position = ?`, [
        from,
        to,
        size - 1,
      ])
    await change('Firefox', 'Firefix')
    for (const threads of [1, 2]) {
      const { findings } = await verifyLog({ db: log.db, stored, verifier, threads })
      expect(
        findings.map(({ ordinal }) => ordinal),
        `${threads} threads`,
      ).to.deep.equal([size - 2])
    }
    await change('Firefix', 'Firefox')
  })

  it('has receipts of events and of single clicks, which nothing else verifies', async () => {
    const hits = [
      click({ account: 7, visitor: 'aaaaaaaaaaaaaaaa' }),
      click({ account: 8, visitor: 'bbbbbbbbbbbbbbbb' }),
      click({ account: 7, visitor: 'cc' }),
    ]
    await log.append([{ stream: 'clicks-proof', event: fresh(clicked(...hits), null) }])
    const { size } = await grown()
    const proofs = openProofs({ db: log.db, stored, ordinals: postgresOrdinals(log.db) })
    const receipt = Receipt.parse(await proofs.ofClick(`${size - 1}-2`, 7))
    expect(verifyReceipt(receipt, verifier).size).to.equal(size)
    expect(JSON.parse(receipt.click!)).to.include({ account: 7, visitor: 'cc', destination: 'https://example.com/' })
    expect(JSON.stringify(receipt)).not.to.match(/"(aaaaaaaa|bbbbbbbb)|agents|destinations/)
    expect(Buffer.byteLength(JSON.stringify(receipt.proof))).to.be.at.most(2048)
    expect(await proofs.ofClick(`${size - 1}-1`, 7), "another account's click").to.equal(undefined)
    for (const id of [`${size - 1}-3`, `${size}-0`, '1-0', 'x'])
      expect(await proofs.ofClick(id, 7), id).to.equal(undefined)

    const event = Receipt.parse(await proofs.ofEvent(0))
    expect(verifyReceipt(event, verifier).size).to.equal(size)
    expect(await proofs.ofEvent(0, () => false), 'an event that may not be read').to.equal(undefined)
    expect(await proofs.ofEvent(size)).to.equal(undefined)
    await log.append(history(random, 1, 5000))
    expect(await proofs.ofEvent(size)).to.equal('unsigned')

    const other = parseVerifier(createSigner(signer.name, randomBytes(32)).publicKey)!
    const { proof } = receipt
    const forged: readonly Receipt[] = [
      { ...receipt, click: receipt.click!.replace('cc', 'dd') },
      { ...receipt, event: receipt.event.replace('LinkClicked', 'LinkRaptured') },
      { ...receipt, proof: { ...proof, index: 3 } },
      { ...receipt, proof: { ...proof, path: proof.path.slice(1) } },
      { ...receipt, proof: { ...proof, click: { ...proof.click!, index: 1 } } },
      { ...receipt, proof: { ...proof, click: undefined } },
      { ...receipt, proof: { ...proof, checkpoint: proof.checkpoint.replace(String(size), String(size + 1)) } },
      { ...event, click: receipt.click },
      { ...receipt, proof: { ...proof, path: proof.path.map((hash) => `${hash.slice(0, -1)}AA=`) } },
      { ...receipt, proof: { ...proof, path: proof.path.map(() => 'A'.repeat(88)) } },
      { ...receipt, proof: { ...proof, click: { index: -1, path: proof.click!.path } } },
    ]
    for (const one of forged) expect(() => verifyReceipt(one, verifier)).to.throw(Error, /./, JSON.stringify(one))
    expect(() => verifyReceipt(receipt, other)).to.throw('not signed')
  })
})
