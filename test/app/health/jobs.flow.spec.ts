import { mkdir, rm } from 'node:fs/promises'
import { expect } from 'chai'
import { account } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { registerIn } from '../../../src/security/erasures.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { startSmtp } from '../../support/smtp.ts'

describe('stalled jobs of a process', () => {
  let app: TestApp
  let smtp: Awaited<ReturnType<typeof startSmtp>>
  before(async () => {
    smtp = await startSmtp()
    await smtp.close()
    const settings = { SMTP_URL: smtp.url, SMTP_FROM: 'links@short.example', BASE_URL: 'https://short.example' }
    app = await startTestApp(settings)
  })
  after(() => app.close())

  const problems = async () => String((await app.operator.get('/readyz?of=api')).json['problems'])
  const failing = async (job: string) => {
    const { text } = await app.operator.get('/metrics')
    return Number(new RegExp(`^linkledger_job_failing_seconds\\{job="${job}"\\} (\\S+)$`, 'm').exec(text)?.[1])
  }

  it('are in /readyz and in the metrics: a mail server that takes nothing, without the recipient', async () => {
    await app.post('/register', { body: { email: 'ann@example.com', password: 'correct horse 1' } })
    const found = await until(problems, (text) => text.includes('no mail'))
    expect(found)
      .to.match(/no mail is sent since \d{4}-\S+Z: .*(?:ESOCKET|ECONNREFUSED)/)
      .and.not.to.include('ann@example.com')
    expect(
      await until(
        () => failing('mail'),
        (seconds) => seconds > 0,
      ),
    ).to.be.above(0)
    for (const job of ['erasures', 'text_erasure', 'cleanup', 'sessions', 'outbox', 'webhooks', 'frame_checks'])
      expect(await failing(job), job).to.equal(0)
  })

  it('are those that end by themselves, too: erasures that the disk does not take', async () => {
    const other = await startTestApp()
    const said = async () => String((await other.operator.get('/readyz')).json['problems'])
    try {
      const { id } = await other.register()
      // what is no file takes no line
      await mkdir(registerIn(other.dir))
      await other.app.ledger.handler.handle(account, { type: 'EraseAccount', id }, systemMetadata(id))
      expect(await until(said, (text) => text.includes('not noted'))).to.match(
        /erasures are not noted in DATA_DIR\/erasures since \S+: EISDIR/,
      )
      await rm(registerIn(other.dir), { recursive: true })
      // they are noted at the next change of an account
      await other.register()
      expect(await until(said, (text) => !text.includes('not noted'))).not.to.include('not noted')
    } finally {
      await other.close()
    }
  })
})
