import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { addFramedLinks, claimDueLinks, makeDue } from '../../../src/queries/links/framecheck.ts'
import type { Reader } from '../../../src/queries/reader.ts'
import { checkFrames, startFrameChecks } from '../../../src/app/jobs/framing.ts'
import type { FrameProbe } from '../../../src/app/jobs/frameprobe.ts'
import { aborted } from '../../../src/lib/async/aborted.ts'
import type { Probed } from '../../../src/lib/fetch.ts'
import { useLinks } from '../../support/links.ts'
import { agents, canada, message, summary } from '../../support/interstitials.ts'
import { until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'

describe('links whose destination refuses to be framed', () => {
  const answers = new Map<string, Probed>()
  const asked: string[] = []
  let release = () => {}
  let held: Promise<void> = Promise.resolve()
  const { app, key, add, update, create, clicks } = useLinks(
    { TRUST_PROXY: '1' },
    {
      guardedProbe: async (url) => {
        asked.push(url)
        await held
        return answers.get(url)
      },
    },
  )
  const page = (name: string, headers: Record<string, string> = {}) => {
    const url = `https://${name}.example/page`
    answers.set(url, { status: 200, headers })
    return url
  }
  const refusing = (name: string) => page(name, { 'x-frame-options': 'DENY' })
  const visit = (path: string, headers: Record<string, string> = {}) =>
    app().ask('GET', path, { headers: { 'User-Agent': agents.person, ...headers } })
  const details = async (id: number) =>
    (await app().get(`/api/url/${id}`, { key: key() })).json['details'] as {
      unframed: { url: string; reason: string; since: string }[]
    }
  const unframed = async (id: number) => (await details(id)).unframed.map(({ url }) => url)
  const becomes = (id: number, urls: readonly string[]) =>
    until(
      () => unframed(id),
      (found) => found.join() === urls.join(),
    )

  /** Runs a check of every framed link, as a day later, with these verdicts. */
  const check = async (probe: FrameProbe, originOf: (domain: number | null) => string = () => 'https://go.example') => {
    const { reader, handler } = app().app.ledger
    await query(app().connection, "update state.framing_checks set due_at = now() - interval '1 hour'")
    const onProblem = (error: unknown) => {
      throw error
    }
    const options = { reader, handler, probe, originOf, onProblem }
    while ((await checkFrames(options)) > 0);
  }

  it('redirect, are counted as before, and say since when, without delaying the write', async () => {
    for (const type of ['frame', `overlay-${await create('overlay', message)}`]) {
      const url = refusing(`late-${type}`)
      held = new Promise((done) => (release = done))
      const { id, path } = await add({ type, url })
      await until(async () => asked.includes(url), Boolean)
      expect((await visit(path)).status).to.equal(200)
      release()
      await becomes(id, [url])
      expect(
        summary(
          await until(
            () => visit(path),
            ({ status }) => status === 302,
          ),
        ),
      ).to.equal(`302 ${url}`)
      await until(
        () => clicks(id),
        (count) => count >= 2,
      )
      const [found] = (await details(id)).unframed
      expect(found?.reason).to.equal('x-frame-options')
      expect(found?.since).to.match(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$/)
    }
  })

  it('are checked again when they change, and lose the result for an address they no longer lead to', async () => {
    const [url, open] = [refusing('first'), page('second')]
    const { id, path } = await add({ type: 'direct', url })
    await update(id, { type: 'frame', url })
    await becomes(id, [url])
    await update(id, { url: open })
    expect(await unframed(id)).to.deep.equal([])
    expect((await visit(path)).status).to.equal(200)
    await update(id, { url, type: 'direct' })
    expect(await unframed(id)).to.deep.equal([])
  })

  it('redirect only the visitors whose own destination refuses', async () => {
    const [url, abroad] = [page('home'), refusing('abroad')]
    const { id, path } = await add({ type: 'frame', url, geotarget: [{ location: 'Canada', link: abroad }] })
    await becomes(id, [abroad])
    const there = { 'X-Forwarded-For': canada }
    expect(
      summary(
        await until(
          () => visit(path, there),
          ({ status }) => status === 302,
        ),
      ),
    ).to.equal(`302 ${abroad}`)
    expect((await visit(path)).status).to.equal(200)
  })

  it('are asked again every day: the frame is back when it is allowed, and silence changes nothing', async () => {
    const url = refusing('daily')
    const { id, path } = await add({ type: 'frame', url })
    await becomes(id, [url])
    const { since } = (await details(id)).unframed[0]!
    await check(async () => 'unknown')
    await check(async () => 'x-frame-options')
    expect((await details(id)).unframed).to.deep.equal([{ url, reason: 'x-frame-options', since }])
    // a check of the service itself may take the links that are due
    const isAllowed = async () => {
      await check(async () => null)
      return (await unframed(id)).length === 0
    }
    expect(await until(isAllowed, Boolean)).to.equal(true)
    expect(
      (
        await until(
          () => visit(path),
          ({ status }) => status === 200,
        )
      ).text,
    ).to.include('<iframe')
    const planned = await query<{ hours: number }>(
      app().connection,
      'select extract(epoch from due_at - now())::float8 / 3600 as hours from state.framing_checks where link = $1',
      [id],
    )
    expect(planned[0]?.hours).to.be.within(22, 24)
  })

  it('redirect at all addresses of a link when they refuse frames at one', async () => {
    const { id } = await add({ type: 'frame', url: page('several') })
    const own = { key: key(), body: { domain: `https://several-${id}.example` } }
    expect((await app().post('/api/domain/add', own)).status).to.equal(200)
    const more = await app().post(`/api/url/${id}/addresses`, { ...own, body: { ...own.body, custom: 'framed-too' } })
    expect(more.status, more.text).to.equal(200)
    const origins: string[] = []
    const probe: FrameProbe = async (url, embedder) => {
      if (url.includes('several')) origins.push(embedder)
      return url.includes('several') && embedder === 'https://own.example' ? 'frame-ancestors' : null
    }
    const isFound = async () => {
      await check(probe, (domain) => (domain === null ? 'https://go.example' : 'https://own.example'))
      return unframed(id)
    }
    await until(isFound, (urls) => urls.length === 1)
    expect(origins.slice(0, 2)).to.deep.equal(['https://go.example', 'https://own.example'])
  })

  it('are not probed for a disabled account, and are again once it is enabled', async () => {
    const { json } = await app().post('/register', { body: { email: 'b@example.com', password: 'long enough' } })
    const account = Number(json['id'])
    const body = { url: page('disabled'), type: 'frame' }
    const made = await app().post('/api/url/add', { key: String(json['api_key']), body })
    const id = Number(made.json['id'])
    const asks = async () => {
      const seen: string[] = []
      await check(async (url) => {
        seen.push(url)
        return 'unknown'
      })
      return seen.includes(body.url)
    }
    const { handler, reader } = app().app.ledger
    const isPlanned = async () => {
      await addFramedLinks(reader)
      const rows = await query(app().connection, 'select 1 from state.framing_checks where link = $1', [id])
      return rows.length === 1
    }
    await until(isPlanned, Boolean)
    await handler.handle(accounts, { type: 'DisableAccount', id: account }, systemMetadata(account))
    const isPlannedAgain = async () => {
      expect(await asks()).to.equal(false)
      return isPlanned()
    }
    // it is, while the tables have the account as active
    expect(await until(isPlannedAgain, (planned) => !planned)).to.equal(false)
    await handler.handle(accounts, { type: 'EnableAccount', id: account }, systemMetadata(account))
    expect(await until(isPlanned, Boolean)).to.equal(true)
    expect(await until(asks, Boolean)).to.equal(true)
  })

  /** Runs something with a table of checks of its own, of which nothing stays. */
  const alone = async (run: (own: Reader) => Promise<void>) => {
    const { reader } = app().app.ledger
    const ended = new Error('nothing of this stays')
    await reader.db
      .transaction(async (tx) => {
        // the service itself takes none meanwhile
        await tx.raw('delete from state.framing_checks')
        await run({ ...reader, db: tx })
        throw ended
      })
      .catch((error: unknown) => expect(error).to.equal(ended))
  }

  it('take turns by account, however many of one are due', () =>
    alone(async (own) => {
      for (let id = 1001; id <= 1030; id++) await makeDue(own, { id, account: 1 })
      await own.db.raw(`update state.framing_checks set due_at = due_at - interval '1 hour'`)
      await makeDue(own, { id: 2001, account: 2 })
      await own.db.raw(
        `insert into state.framing_checks (link, account, due_at) values (3001, 3, now() - interval '1 minute')`,
      )
      const turns: (readonly number[])[] = []
      for (let n = 0; n < 2; n++) turns.push((await claimDueLinks(own, 5, 4)).toSorted((a, b) => a - b))
      const [first = [], second = []] = turns
      expect(first.slice(-2)).to.deep.equal([2001, 3001])
      expect([first.length, second.length]).to.deep.equal([5, 4])
      expect(new Set([...first, ...second]).size).to.equal(9)
    }))

  it('of an account have their turn before those of another have a second one, in whichever run', () =>
    alone(async (own) => {
      const many = 25
      await own.db.raw(
        `insert into state.framing_checks (link, account, due_at)
         select a * 100 + n, a, now() - interval '1 day' from generate_series(1, ?) a, generate_series(1, 50) n`,
        [many],
      )
      const single = (many + 1) * 100
      await own.db.raw(
        `insert into state.framing_checks (link, account, due_at) values (?, ?, now() - interval '1 minute')`,
        [single, many + 1],
      )
      const runs: (readonly number[])[] = []
      for (let n = 0; n < 2; n++) {
        const links = await claimDueLinks(own, 20, 4)
        runs.push(links)
        // who was served writes again at once, as often as they like
        for (const link of links.filter((link) => link !== single))
          await makeDue(own, { id: link, account: Math.floor(link / 100) })
      }
      expect(runs.flat()).to.include(single)
      expect(new Set(runs.flat().map((link) => Math.floor(link / 100))).size).to.equal(many + 1)
      // an account that was not served recently is in the very next run
      await makeDue(own, { id: 9900, account: 99 })
      expect(await claimDueLinks(own, 20, 4)).to.include(9900)
    }))

  it('do not delay the stop of the service when their sites never answer', async () => {
    const ids = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => add({ type: 'frame', url: page(`silent-${n}`) })))
    const { reader, handler } = app().app.ledger
    const silent: string[] = []
    const checks = startFrameChecks({
      reader,
      handler,
      probe: async (url, _, signal) => {
        silent.push(url)
        await aborted(signal ?? expect.fail('the probe cannot be stopped'))
        return 'later'
      },
      originOf: () => 'https://go.example',
      onProblem: (error) => {
        throw error
      },
    })
    await until(
      async () => {
        for (const { id } of ids) checks.checkSoon({ id, account: 1 })
        return silent.length
      },
      (count) => count > 0,
    )
    const began = silent.length
    await checks.close()
    expect(silent).to.have.length.of.at.most(Math.max(began, 4))
  })

  it('are not asked any more once they are direct or deleted', async () => {
    const { id } = await add({ type: 'frame', url: page('short') })
    const gone = await add({ type: 'frame', url: page('shorter') })
    await update(id, { type: 'direct' })
    await app().ask('DELETE', `/api/url/${gone.id}/delete`, { key: key() })
    const seen: string[] = []
    await check(async (url) => {
      seen.push(url)
      return 'unknown'
    })
    expect(seen.filter((url) => url.includes('short'))).to.deep.equal([])
    const left = () =>
      query(app().connection, 'select link from state.framing_checks where link in ($1, $2)', [id, gone.id])
    // a check of the service itself, of when they were added, may not have ended
    expect(await until(left, ({ length }) => length === 0)).to.deep.equal([])
  })
})
