import { expect } from 'chai'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { account } from '../../../src/commands/accounts/account.ts'
import { block } from '../../../src/commands/operator/block.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { send as raw } from '../../support/raw.ts'

const long = 'https://example.com/long?a=1&b=2#c'
const contact = { type: 'contact', name: 'Contact' }
const poll = { type: 'poll', name: 'Drinks', question: 'Tea or coffee?', options: ['Tea', 'Coffee & "cake"'] }
const news = { type: 'newsletter', name: 'News' }

/** Returns the action and the hidden fields of a page's form, as a browser would send them. */
const formOf = (html: string) => {
  const unescaped = (text: string) =>
    text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&')
  const action = /<form method="post" action="([^"]+)"/.exec(html)?.[1] ?? ''
  const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  return { action, fields: Object.fromEntries(fields.map(([, name, value]) => [name, unescaped(value ?? '')])) }
}

describe('the form of an overlay', () => {
  let app: TestApp
  let key: string
  let n = 0
  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1' })
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const api = async (path: string, body: object, as = key) => {
    const { status, json, text } = await app.post(path, { key: as, body })
    expect(status, text).to.equal(200)
    return json
  }
  const create = async (body: object, as = key) => Number((await api('/api/overlay/add', body, as))['id'])
  /** Creates an overlay on a link, and returns them with the form that a visitor sees. */
  const shown = async (body: object, link: object = {}) => {
    const overlay = await create(body)
    const { short, id } = await api('/api/url/add', {
      url: long,
      custom: `a-${++n}`,
      type: `overlay-${overlay}`,
      ...link,
    })
    const path = new URL(String(short)).pathname
    const form = formOf((await app.visit(path)).text)
    expect(form.action).to.equal(`/o/${overlay}`)
    return { overlay, link: Number(id), path, ...form }
  }
  const send = (action: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    app.post(action, {
      body: new URLSearchParams(fields).toString(),
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        // each request has its own IP address, and so its own rate limit
        'X-Forwarded-For': `198.51.100.${++n % 250}`,
        ...headers,
      },
    })
  const answers = async (overlay: number, at = 1): Promise<{ id: number; date: string; fields: object }[]> => {
    const found = await until(
      () => app.get(`/api/overlay/${overlay}/answers`, { key }),
      ({ json }) => json['data']?.answers.length >= at,
    )
    return found.json['data'].answers
  }

  it('thanks for an answer to a contact form, links to the destination, and lists the answer to the owner', async () => {
    const { overlay, action, fields } = await shown(contact)
    expect(action).to.equal(`/o/${overlay}`)
    const given = { name: 'Bea', email: 'bea@example.com', message: 'Größe?\n<b>&' }
    const { status, text, headers } = await send(action, { ...fields, ...given, more: 'ignored' })
    expect(status).to.equal(200)
    expect(text).to.include('Thank you').and.include('href="https://example.com/long?a=1&amp;b=2#c"')
    expect(text).not.to.match(/http-equiv/i)
    expect(headers.get('Cache-Control')).to.equal('private, no-store')
    const [answer] = await answers(overlay)
    expect(answer).to.have.all.keys('id', 'date', 'fields')
    expect(answer!.id).to.be.a('number')
    expect(answer!.date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(answer!.fields).to.deep.equal(given)
  })

  it('accepts answers to polls and newsletters', async () => {
    const [drinks, letter] = [await shown(poll), await shown(news)]
    expect((await send(drinks.action, { ...drinks.fields, choice: 'Coffee & "cake"' })).text).to.include('Your vote')
    expect((await send(letter.action, { ...letter.fields, email: 'cy@example.com' })).text).to.include('Thank you')
    expect((await answers(drinks.overlay)).map(({ fields }) => fields)).to.deep.equal([{ choice: 'Coffee & "cake"' }])
    expect((await answers(letter.overlay)).map(({ fields }) => fields)).to.deep.equal([{ email: 'cy@example.com' }])
  })

  it('lists answers newest first in the standard envelope', async () => {
    const { overlay, action, fields } = await shown(news)
    for (const name of ['a', 'b', 'c']) await send(action, { ...fields, email: `${name}@example.com` })
    await answers(overlay, 3)
    const { json } = await app.get(`/api/overlay/${overlay}/answers?limit=2&page=2`, { key })
    expect(json['error']).to.equal('0')
    expect(json['data']).to.deep.include({ result: 3, perpage: 2, currentpage: 2, nextpage: 2, maxpage: 2 })
    expect(json['data'].answers).to.have.length(1)
    expect(json['data'].answers[0].fields).to.deep.equal({ email: 'a@example.com' })
    const none = await app.get(`/api/overlay/${(await shown(news)).overlay}/answers`, { key })
    expect(none.json['data']).to.deep.include({ result: 0, answers: [] })
  })

  it('rejects an invalid answer with a message and does not store it', async () => {
    const [letter, drinks, mail] = [await shown(news), await shown(poll), await shown(contact)]
    const long_ = 'x'.repeat(1001)
    for (const [{ action, fields }, body, problem] of [
      [letter, {}, /Enter a complete e-mail address/],
      [letter, { email: 'nobody' }, /Enter a complete e-mail address/],
      [drinks, {}, /Choose one of the answers/],
      [drinks, { choice: 'Beer' }, /Choose one of the answers/],
      [mail, { email: 'a@example.com' }, /Write a message before/],
      [mail, { email: 'a@example.com', message: ' ' }, /Write a message before/],
      [mail, { email: 'a@example.com', message: long_ }, /Each field can have at most 1,000 characters/],
      [mail, { email: 'a@example.com', message: 'x', name: long_ }, /Each field can have at most 1,000 characters/],
      [mail, { email: 'a@example.com', message: 'x\0y' }, /Write a message before/],
    ] as [typeof letter, Record<string, string>, RegExp][]) {
      const { status, text } = await send(action, { ...fields, ...body })
      expect(status, text).to.equal(400)
      expect(text).to.include('Your answer was not sent').and.match(problem)
    }
    expect((await send(mail.action, { message: 'x'.repeat(70_000) })).status).to.equal(413)
    for (const [{ action, fields }, body, message] of [
      [letter, {}, '`email` is required.'],
      [drinks, {}, '`choice` is required.'],
      [drinks, { choice: 'Beer' }, '`choice` must be one of the answers to choose from.'],
      [mail, { email: 'a@example.com', message: ' ' }, '`message` must not be empty.'],
    ] as [typeof letter, Record<string, string>, string][]) {
      const { status, json } = await send(action, { ...fields, ...body }, { Accept: 'application/json' })
      expect([status, json['error'], json['message']]).to.deep.equal([400, 1, message])
    }
    await send(mail.action, { ...mail.fields, email: 'a@example.com', message: 'y'.repeat(1000) })
    for (const { overlay, kept } of [
      { ...letter, kept: 0 },
      { ...drinks, kept: 0 },
      { ...mail, kept: 1 },
    ])
      expect(await answers(overlay, kept)).to.have.length(kept)
  })

  it('shows a rejected answer again, with its values and each problem at its field', async () => {
    const { action, fields, path } = await shown({ ...contact, name: 'Questions?', color: '#123456' })
    const given = { name: 'Bea', email: 'bea@example', message: ' ' }
    const { text, headers } = await send(action, { ...fields, ...given })
    expect(text).to.include('<title>Error: Your answer was not sent. Please check 2 fields.</title>')
    expect(text)
      .to.include('Questions?')
      .and.match(/<iframe[^>]*src="https:\/\/example\.com\/long\?a=1&amp;b=2#c"/)
    expect(text).to.include(path).and.include('<details open>')
    const tag = (id: string) => new RegExp(`<(?:input|textarea)\\s+id="${id}"[^>]*>`).exec(text)?.[0]
    expect(tag('name')).to.include('value="Bea"').and.not.include('invalid')
    expect(tag('email')).to.include('value="bea@example"').and.include('aria-invalid="true"')
    expect(tag('email')).to.include('aria-describedby="email-problem"').and.include('autofocus')
    expect(tag('message')).to.include('aria-describedby="message-problem"').and.not.include('autofocus')
    expect(text).to.match(/id="email-problem">Enter a complete e-mail address/)
    expect(headers.get('Content-Security-Policy')).to.include('frame-src https://example.com')
    // the form that is shown again is signed like the first one
    const again = formOf(text)
    expect(
      (await send(again.action, { ...again.fields, ...given, email: 'b@example.com', message: 'x' })).status,
    ).to.equal(200)
    const drinks = await shown(poll)
    const choice = (await send(drinks.action, { ...drinks.fields, choice: 'Beer' })).text
    expect(choice).to.match(/<input\s+type="radio"[^>]*value="Tea"[^>]*aria-describedby="choice-problem" autofocus/)
  })

  it('thanks on the page that showed the form, which stays', async () => {
    const { action, fields, path } = await shown(contact)
    const { text } = await send(action, { ...fields, name: 'Bea', email: 'bea@example.com', message: 'x' })
    expect(text)
      .to.match(/<h2 id="overlay-title"[^>]*>Thank you, Bea</)
      .and.match(/<iframe[^>]*src="https:\/\/example/)
    expect(text)
      .to.include(path)
      .and.not.include('method="post"')
      .and.not.match(/http-equiv|location/i)
    expect(text).to.match(/<p role="status" tabindex="-1" autofocus>Your message was sent/)
  })

  it('does not show a destination again that was blocked since', async () => {
    const { action, fields } = await shown(news, { url: 'https://phish.example/' })
    const answered = () => send(action, { ...fields, email: 'a@example.com' })
    expect((await answered()).text).to.include('<iframe')
    const host = { type: 'Block', kind: 'host', value: 'phish.example', reason: 'phishing' } as const
    await app.app.ledger.handler.handle(block, host, operatorContext({ OPERATOR: 'ann' }, null))
    const { text } = await until(answered, ({ status }) => status === 403)
    expect(text).to.include('This link is blocked for your safety').and.not.include('<iframe')
  })

  it('escapes the values of an answer that it shows again', async () => {
    const { action, fields } = await shown(contact)
    const evil = '"><script>alert(1)</script></textarea><img src=x onerror=alert(2)>'
    for (const body of [
      { name: evil, email: evil, message: `${evil}${'x'.repeat(1000)}` },
      { name: evil, email: 'a@example.com', message: 'x' },
    ]) {
      const { text } = await send(action, { ...fields, ...body })
      expect(text).to.not.include('<script>alert').and.not.include('<img src=x')
      expect(text).to.include('&quot;&gt;&lt;script&gt;')
    }
  })

  it('accepts ten answers a minute from one address, and still accepts answers from others', async () => {
    const { action, fields } = await shown(news)
    const from = { 'X-Forwarded-For': '203.0.113.77' }
    const all: Answer[] = []
    for (let i = 0; i < 12; i++) all.push(await send(action, { ...fields, email: `n${i}@example.com` }, from))
    expect(all.map(({ status }) => status)).to.deep.equal([...Array<number>(10).fill(200), 429, 429])
    expect(Number(all.at(-1)?.headers.get('Retry-After'))).to.be.within(1, 60)
    expect((await send(action, { ...fields, email: 'n@example.com' })).status).to.equal(200)
  })

  it('thanks bots that fill the hidden field, but does not store their answers', async () => {
    const { overlay, action, fields } = await shown(news)
    const bot = await send(action, { ...fields, email: 'bot@example.com', website: 'https://spam.example' })
    const person = await send(action, { ...fields, email: 'ann@example.com', website: '' })
    expect(bot.text).to.equal(person.text)
    expect((await answers(overlay)).map(({ fields }) => fields)).to.deep.equal([{ email: 'ann@example.com' }])
  })

  it('refuses an answer that was not sent from a form of ours, and does not store it', async () => {
    const { overlay, link, action, fields } = await shown(news)
    const other = await shown(news)
    const { sign: _, ...unsigned } = fields
    for (const [forged, headers] of [
      [{}, {}],
      [unsigned, {}],
      [{ ...fields, to: 'https://evil.example/' }, {}],
      [{ ...fields, link: '999' }, {}],
      [{ ...fields, until: '99999999999' }, {}],
      [other.fields, {}],
      [fields, { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
    ] as [Record<string, string>, Record<string, string>][]) {
      const { status, text } = await send(action, { email: 'a@example.com', ...forged }, headers)
      expect(status, JSON.stringify([forged, headers])).to.equal(403)
      expect(text).to.include('Your answer was not sent').and.not.include('evil').and.not.include('refresh')
    }
    const same = { 'Sec-Fetch-Site': 'same-origin' }
    expect((await send(action, { ...fields, email: 'b@example.com' }, same)).status).to.equal(200)
    expect((await answers(overlay)).map(({ fields }) => fields)).to.deep.equal([{ email: 'b@example.com' }])
    const links = await query<{ link: number }>(
      app.connection,
      `select (data->>'link')::int as link from log.events where type = 'AnswerGiven' and (data->>'overlay')::int = $1 order by position`,
      [overlay],
    )
    expect(links.map((row) => row.link)).to.deep.equal([link])
  })

  it('numbers the answers to each overlay from 1 on, so that a number says nothing about the service', async () => {
    const [first, second] = [await shown(news), await shown(news)]
    for (const { action, fields } of [first, second, first, first])
      await send(action, { ...fields, email: 'a@example.com' })
    const ids = async ({ overlay }: typeof first, at: number) => (await answers(overlay, at)).map(({ id }) => id)
    expect([await ids(first, 3), await ids(second, 1)]).to.deep.equal([[3, 2, 1], [1]])
    const paged = await app.get(`/api/overlay/${first.overlay}/answers?limit=2&page=2`, { key })
    expect(paged.json['data'].answers.map(({ id }: { readonly id: number }) => id)).to.deep.equal([1])
    const past = await app.get(`/api/overlay/${first.overlay}/answers?limit=2&page=3`, { key })
    expect(past.json['data']).to.deep.include({ result: 3, answers: [] })
  })

  it('does not count answers as clicks, and shows the form on every page that leads to the link', async () => {
    const overlay = await create(news)
    const { id: campaign, rotator } = await api('/api/campaign/add', { name: 'c', public: true })
    const { short, id } = await api('/api/url/add', { url: long, type: `overlay-${overlay}`, campaign })
    const { id: _, link: image } = await api('/api/qr/add', { type: 'link', data: short })
    const scan = await app.visit(`${new URL(String(image)).pathname}/go`)
    const scanned = new URL(scan.headers.get('Location') ?? '').pathname
    for (const path of [new URL(String(rotator)).pathname, scanned]) {
      const { status, text, headers } = await app.visit(path)
      expect(status).to.equal(200)
      expect(headers.get('Content-Security-Policy')).to.include(`form-action 'self'`)
      const { action, fields } = formOf(text)
      expect((await send(action, { ...fields, email: 'a@example.com' })).text, path).to.include('Thank you')
    }
    expect(await answers(overlay, 2)).to.have.length(2)
    await app.visit(new URL(String(short)).pathname)
    const clicks = async () => Number((await app.get(`/api/url/${Number(id)}`, { key })).json['data'].clicks)
    expect(await until(clicks, (count) => count >= 3)).to.equal(3)
  })

  it('counts the answers to a poll by choice', async () => {
    const poll = await shown({ type: 'poll', name: 'Drinks', question: 'Tea?', options: ['Tea', 'Coffee', 'Water'] })
    const counts = async () => (await app.get(`/api/overlay/${poll.overlay}/answers/counts`, { key })).json['data']
    expect(await counts()).to.deep.equal({ answers: 0, counted: 0, choices: [] })
    for (const choice of ['Tea', 'Coffee', 'Tea']) await send(poll.action, { ...poll.fields, choice })
    await answers(poll.overlay, 3)
    const choices = [
      { choice: 'Tea', count: 2 },
      { choice: 'Coffee', count: 1 },
    ]
    expect(await counts()).to.deep.equal({ answers: 3, counted: 3, choices })
  })

  it('accepts answers on a branded domain', async () => {
    await api('/api/domain/add', { domain: 'https://answers.example', redirect404: 'https://elsewhere.example/' })
    const { action, fields, overlay } = await shown(news)
    const answer = await raw(app.address, 'POST', action, {
      headers: { Host: 'answers.example', 'X-Forwarded-For': '198.51.100.251' },
      body: new URLSearchParams({ ...fields, email: 'a@example.com' }).toString(),
    })
    expect(answer.status, answer.text).to.equal(200)
    expect(await answers(overlay)).to.have.length(1)
  })

  it('shows the address of the link afterwards, for any Host header of the request', async () => {
    const { id: domain } = await api('/api/domain/add', { domain: 'https://asks.example' })
    const [own, branded] = [await shown(news), await create(news)]
    const { id } = await api('/api/url/add', {
      url: long,
      custom: 'ask',
      type: `overlay-${branded}`,
      domain: 'https://asks.example',
    })
    expect([Number(domain), Number(id)]).to.not.include(0)
    const page = await raw(app.address, 'GET', '/ask', { headers: { Host: 'asks.example' } })
    for (const [{ action, fields }, address] of [
      [own, `localhost:${new URL(app.address).port}${own.path}`],
      [formOf(page.text), 'asks.example/ask'],
    ] as const)
      for (const email of ['a@example.com', 'wrong']) {
        const { text } = await raw(app.address, 'POST', action, {
          headers: { Host: 'evil.example', 'X-Forwarded-For': `198.51.100.${++n % 250}` },
          body: new URLSearchParams({ ...fields, email }).toString(),
        })
        expect(text.replaceAll(/<[^>]*>/g, ''), email).to.include(address)
        expect(text).to.include(encodeURIComponent(address))
        expect(text).to.not.include('evil.example')
      }
  })

  it('returns 404 where the form no longer exists, and 403 for data that no form of ours has sent', async () => {
    const { overlay, action, fields } = await shown(news)
    const plain = await create({ type: 'message', name: 'm', message: 'Hello' })
    const deleted = await shown(news)
    await app.del(`/api/overlay/${deleted.overlay}/delete`, { key })
    const other = await app.register()
    const theirs = await create(news, other.key)
    const email = 'a@example.com'
    expect((await send(deleted.action, { ...deleted.fields, email })).status).to.equal(404)
    for (const path of ['/o/0', '/o/x', `${action}/x`, '/o/1e3'])
      expect((await send(path, { ...fields, email })).status, path).to.equal(404)
    for (const path of [`/o/${plain}`, deleted.action, '/o/999999'])
      expect((await send(path, { ...fields, email })).status, path).to.equal(403)
    for (const method of ['GET', 'HEAD', 'PUT']) {
      const { status, headers } = await app.ask(method, action)
      expect([status, headers.get('Allow')]).to.deep.equal([405, 'POST, OPTIONS'])
    }
    const missing = await app.get('/api/overlay/999999/answers', { key })
    expect(missing.status).to.equal(404)
    for (const id of [theirs, deleted.overlay])
      expect((await app.get(`/api/overlay/${id}/answers`, { key })).text).to.equal(missing.text)
    expect((await app.get(`/api/overlay/${overlay}/answers`)).status).to.equal(401)
    expect(await answers(overlay, 0)).to.have.length(0)
  })

  it('seals answers in the log, unreadable once the account is erased', async () => {
    const own = await app.register()
    const overlay = await create(news, own.key)
    const { short } = await api('/api/url/add', { url: long, type: `overlay-${overlay}` }, own.key)
    const { fields } = formOf((await app.visit(new URL(String(short)).pathname)).text)
    const canary = 'canary-answer@example.com'
    await send(`/o/${overlay}`, { ...fields, email: canary })
    const everywhere = () =>
      query(
        app.connection,
        `select 1 from ${app.app.ledger.tables.name('answers')} where overlay = $1 and fields like '%canary-answer%'`,
        [overlay],
      )
    expect(await until(everywhere, ({ length }) => length === 1)).to.have.length(1)
    const inLog = () =>
      query<{ text: string }>(app.connection, `select e::text as text from log.events e where type = 'AnswerGiven'`)
    expect((await inLog()).filter(({ text }) => text.includes('canary'))).to.deep.equal([])
    const { handler, keys } = app.app.ledger
    const context = {
      account: own.id,
      actor: { kind: 'operator' as const },
      request: 'r',
      command: crypto.randomUUID(),
      at: new Date().toISOString(),
    }
    await handler.handle(account, { type: 'EraseAccount', id: own.id }, context)
    await keys.destroy([own.id])
    expect(await until(everywhere, ({ length }) => length === 0)).to.have.length(0)
    expect((await send(`/o/${overlay}`, { ...fields, email: canary })).status).to.equal(404)
  })
})
