import { expect } from 'chai'
import { describeSmtpError } from '../../../../src/app/accounts/smtp.ts'
import { type MailOptions, sendMails, Undeliverable } from '../../../../src/app/jobs/mail/mail.ts'
import { openOneTimeLinks } from '../../../../src/security/onetimelinks.ts'
import { openOutbox, type WrittenMail } from '../../../../src/security/outbox.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { query } from '../../../support/faults.ts'

describe('the outbox of mails', () => {
  let app: TestApp
  let account: { readonly id: number; readonly email: string }
  before(async () => {
    app = await startTestApp()
    account = await app.register('ann')
  })
  after(() => app.close())
  beforeEach(() => query(app.connection, 'truncate state.mails, state.one_time_links'))

  const open = () => {
    const { db, handler, keys } = app.app.ledger
    const outbox = openOutbox(db, keys.service)
    const sent: WrittenMail[] = []
    const problems: string[] = []
    const options: MailOptions = {
      outbox,
      links: openOneTimeLinks(db, keys.service),
      handler,
      pepper: keys.service,
      textOf: (name, lang, link = '') => ({ subject: `${name} ${lang}`, text: link }),
      addressOf: (kind, token) => `${kind} ${token}`,
      send: async (mail) => void sent.push(mail),
      onProblem: (_, what) => void problems.push(what),
    }
    return { options, outbox, sent, problems }
  }
  const waiting = () =>
    query<{ row: string; in: number }>(
      app.connection,
      `select m::text as row, extract(epoch from due_at - now())::int as in from state.mails m`,
    )
  /** Lets the pause before the next try, or the time for which a process has taken a mail, pass. */
  const pass = () => query(app.connection, 'update state.mails set due_at = now()')
  const reset = () => ({ kind: 'reset', lang: 'de', to: account.email }) as const
  const tokenOf = (mail: WrittenMail | undefined) => mail?.text.split(' ')[1] ?? ''

  it('delays and loses nothing while the mail server is down, and its links last from when they are sent', async () => {
    const { options, outbox, sent, problems } = open()
    await outbox.order(reset())
    const failing = { ...options, send: () => Promise.reject(new Error('refused')) }
    for (let n = 0; n < 3; n++) {
      await sendMails(failing)
      const [row] = await waiting()
      expect(row?.in).to.be.greaterThan(4 * 2 ** n)
      await pass()
    }
    expect(problems).to.deep.equal(Array(3).fill('a mail could not be sent; it is tried again'))
    await query(app.connection, `update state.one_time_links set expires_at = now() - interval '1 minute'`)
    await sendMails(options)
    expect(sent.map(({ to, subject }) => [to, subject])).to.deep.equal([[account.email, 'reset de']])
    expect(await waiting()).to.deep.equal([])
    expect(await options.links.extend(tokenOf(sent[0]), 60)).to.equal(undefined)
    const links = openOneTimeLinks(app.app.ledger.db, app.app.ledger.keys.service)
    expect(await links.find('password', tokenOf(sent[0]))).to.deep.equal({ account: account.id, content: {} })
  })

  it('sends a mail once more, and the same one, after a process was killed between sending and noting it', async () => {
    const { options, outbox, sent } = open()
    await outbox.order(reset())
    const killed = () => new Promise<void>(() => {})
    void sendMails({ ...options, outbox: { ...outbox, remove: killed } })
    await expectSoon(() => sent.length === 1)
    // another process does not take it before the time of the first is over
    await sendMails(options)
    expect(sent).to.have.length(1)
    await pass()
    await sendMails(options)
    await pass()
    await sendMails(options)
    expect(sent).to.have.length(2)
    expect(sent[0]).to.deep.equal(sent[1])
  })

  it('contains no address and no link in clear, and nothing of an erased account', async () => {
    const { options, outbox, sent } = open()
    await outbox.order({ kind: 'passwordChanged', lang: 'en', password: 'x' }, account.id)
    await outbox.order(reset())
    await sendMails({ ...options, send: () => Promise.reject(new Error('refused')) })
    for (const { row } of await waiting()) expect(row).not.to.include(Buffer.from(account.email).toString('hex'))
    const other = await app.register()
    await outbox.order({ kind: 'reset', lang: 'en', to: other.email })
    await sendMails({ ...options, send: () => Promise.reject(new Error('refused')) })
    await app.app.ledger.keys.destroy([other.id])
    await pass()
    await sendMails(options)
    expect(sent.map(({ to }) => to)).to.deep.equal([account.email])
  })

  it('sends no notice of a change that has not happened, and nothing to an unknown address', async () => {
    const { options, outbox, sent } = open()
    await outbox.order({ kind: 'emailChanged', lang: 'en', to: account.email, email: 'other@example.com' }, account.id)
    await outbox.order({ kind: 'reset', lang: 'en', to: 'nobody@example.com' })
    await sendMails(options)
    expect(await waiting()).to.have.length(1)
    await query(app.connection, `update state.mails set created_at = now() - interval '2 minutes', due_at = now()`)
    await sendMails(options)
    expect([await waiting(), sent]).to.deep.equal([[], []])
  })

  it('gives up a mail that the server refuses for good, and logs nothing that is in it', async () => {
    const { options, outbox, problems } = open()
    await outbox.order(reset())
    await sendMails({ ...options, send: () => Promise.reject(new Undeliverable('refused')) })
    expect([await waiting(), problems]).to.deep.equal([[], ['a mail was given up']])
    const error = Object.assign(new Error('550 <ann@example.com> unknown'), { code: 'EENVELOPE', command: 'RCPT TO' })
    expect(JSON.stringify(describeSmtpError(error))).not.to.include('ann@example.com')
  })

  const expectSoon = async (holds: () => boolean) => {
    while (!holds()) await new Promise((done) => setTimeout(done, 5))
  }
})
