import { expect } from 'chai'
import { account as accounts } from '../../src/commands/accounts/account.ts'
import { report } from '../../src/commands/operator/report.ts'
import { systemMetadata } from '../../src/events/event.ts'
import { payloads } from '../data/payloads.ts'
import { needsBrowser } from '../support/browser.ts'
import { until } from '../support/client.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'

const [phone, desktop] = [390, 1440]
const screens = [
  '/operator',
  '/operator/reports',
  '/operator/blocks',
  '/operator/misses',
  '/operator/classes',
  '/operator/health',
]

describe("the operator's screens in Chromium", function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  let bob: Awaited<ReturnType<Dashboard['app']['register']>>
  /** of the account that is signed in */
  let operator: typeof bob
  const handle = (type: 'MarkOperator' | 'UnmarkOperator') =>
    dashboard.app.app.ledger.handler.handle(accounts, { type, id: operator.id }, systemMetadata(operator.id))
  const send = (id: string, subject: number, message: string) =>
    dashboard.app.app.ledger.handler.handle(
      report,
      {
        type: 'SendReport',
        id,
        account: bob.id,
        kind: 'link',
        subject,
        address: 'go.example.com/evil',
        reason: 'phishing',
        message,
        email: 'visitor@example.com',
      },
      systemMetadata(bob.id),
    )
  const visited = async (path: string, status: number) => {
    const seen = await until(
      async () => (await dashboard.app.visit(path)).status,
      (found) => found === status,
    )
    expect(seen, path).to.equal(status)
  }

  /** Returns the link of an alias, as its owner reads it. */
  const made = async (alias: string) => {
    const { app } = dashboard
    const { json } = await app.get(`/api/urls?q=${alias}`, { key: operator.key })
    const [{ id }] = (json['data'] as { urls: [{ id: number }] }).urls
    return (await app.get(`/api/url/${id}`, { key: operator.key })).json['details'] as Record<string, unknown>
  }

  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard()
    const { app, browser, open, see, write, press } = dashboard
    ;[bob, operator] = [await app.register(), await app.register()]
    await handle('MarkOperator')
    const { json } = await app.post('/api/url/add', {
      key: bob.key,
      body: { url: 'https://example.com/', custom: 'evil' },
    })
    await send(
      '7kq2m9xd',
      json['id'] as number,
      `It asks for the password of my bank. ${payloads.join(' ')}`.slice(0, 1000),
    )
    await browser.show(desktop, 'light')
    await open('')
    await write('input[name=email]', operator.email)
    await write('input[name=password]', 'correct horse 1')
    await press('Sign in')
    await see(`document.querySelector('.side')`)
  })
  after(async () => dashboard?.close())

  it('make the link that a mistyped address has meant, with one click', async () => {
    const { app, browser, open, press, see, seeText, write } = dashboard
    const add = (custom: string, fields = {}) =>
      app.post('/api/url/add', { key: operator.key, body: { url: `https://example.com/${custom}`, custom, ...fields } })
    const limits = { password: 'open sesame', max_clicks: 5, expiry: '2100-01-31 18:00:00' }
    for (const [custom, fields] of [
      ['summer', { expired_url: 'https://example.com/over' }],
      ['winter', limits],
    ] as const)
      expect((await add(custom, fields)).status).to.equal(200)
    for (const path of ['/sumer', '/sumer', '/wintr', '/nothing-here', '/ann@example.com']) await visited(path, 404)
    for (const screen of ['/operator/misses', '/misses']) {
      await until(
        async () => {
          await open(screen)
          return browser.read<string>(`document.querySelector('main').innerText`)
        },
        (text) => screen === '/misses' || text.includes('All other addresses'),
      )
      expect(await dashboard.faults(), screen).to.deep.equal([])
    }
    await open('/operator/misses')
    await seeText('Did you mean /summer?')
    await press('Create /sumer')
    await seeText('/sumer is now a copy of /summer and leads to https://example.com/summer')
    await visited('/sumer', 302)
    expect((await made('sumer'))['expired_url']).to.equal('https://example.com/over')
    await press('Create link …')
    await see(`[...document.querySelectorAll('dialog[open] input')].some((one) => one.value === 'nothing-here')`)
    await write('dialog[open] input[placeholder="https://"]', 'https://example.com/something')
    await press('Create')
    await seeText('/nothing-here created')
    await visited('/nothing-here', 302)
  })

  it('make a copy of a protected link for a mistyped address only with a password, and with its end and its maximum', async () => {
    const { open, press, see, seeText, write } = dashboard
    await open('/operator/misses')
    await press('Create /wintr')
    await seeText('has a password, which cannot be copied: enter one.')
    await press('Create')
    await see(`document.querySelector('dialog[open] input[aria-invalid]')?.autocomplete === 'new-password'`)
    await visited('/wintr', 404)
    await write('dialog[open] input[autocomplete="new-password"]', 'another')
    await press('Create')
    await seeText('/wintr created')
    await visited('/wintr', 200)
    expect(await made('wintr')).to.include({ password: true, max_clicks: 5, expiry: '2100-01-31 18:00:00' })
  })

  for (const width of [desktop, phone])
    it(`block a reported link and lift the block, and disable and enable an account, ${width} wide`, async () => {
      const { app, browser, open, press, see, seeText, write } = dashboard
      await browser.show(width, width === phone ? 'dark' : 'light')
      await open(width === phone ? '/more' : '')
      await press('Operator')
      await seeText(bob.email)
      await press('Reports')
      await seeText('go.example.com/evil')
      await press('Block …')
      await see(`document.querySelector('dialog[open] textarea').value === 'Phishing, report 7KQ2-M9XD'`)
      await write('dialog[open] textarea', '')
      await press('Block')
      await see(`document.querySelector('dialog[open] textarea[aria-invalid=true]')`)
      await write('dialog[open] textarea', 'Phishing of a bank')
      await press('Block')
      await seeText('evil blocked')
      await visited('/evil', 403)
      await press('Blocks')
      await seeText('/evil')
      await seeText('Phishing of a bank')
      await press('Unblock')
      await seeText('Nothing is blocked')
      await visited('/evil', 302)

      await open(`/operator?q=${encodeURIComponent(bob.email)}`)
      await press('Disable')
      await seeText(`Disable ${bob.email}?`)
      await press('Disable')
      await seeText(`${bob.email} disabled`)
      await press('Enable')
      await seeText(`${bob.email} enabled`)
      const { status } = await until(
        () => app.get('/api/account', { key: bob.key }),
        (answer) => answer.status === 200,
      )
      expect(status).to.equal(200)
    })

  it('close a report, erase the text of the visitor, and show the health of the service', async () => {
    const { browser, open, press, see, seeText } = dashboard
    await open('/operator/reports')
    await browser.read(
      `[...document.querySelectorAll('.tools-cell button')].find((one) => one.innerText === 'Close').click()`,
    )
    await seeText('No open reports')
    await press('Closed')
    await seeText('go.example.com/evil')
    await press('Erase')
    await seeText('What the visitor wrote is destroyed for good')
    await press('Erase')
    await see(`!document.body.innerText.includes('It asks for the password of my bank')`)
    await press('Health')
    await seeText('Everything is working.')
    await seeText('Event log')
  })

  it('have no fault of contrast, names or sizes, and show texts of visitors as text only', async () => {
    const { app, open } = dashboard
    const email = `${'a-long-name-'.repeat(5)}@${'example'.repeat(8)}.com`
    expect((await app.post('/register', { body: { email, password: 'correct horse 1' } })).status).to.equal(200)
    const faults: string[] = []
    for (const screen of [...screens, '/operator/reports?closed=true', '/operator?q=nobody-has-this']) {
      await open(screen)
      for (const fault of await dashboard.faultsInWindows()) faults.push(`${screen} ${fault}`)
    }
    expect(faults).to.deep.equal([])
  })

  it('are gone when the account is no operator any more', async () => {
    const { browser, open, seeText } = dashboard
    await handle('UnmarkOperator')
    await browser.show(desktop, 'light')
    await open('/operator/reports')
    await seeText('Only an operator who is signed in on the dashboard may do this.')
    expect(await browser.read(`document.querySelector('.side').innerText.includes('Operator')`)).to.equal(false)
    expect(await browser.read(`document.querySelector('main').innerText.includes('evil')`)).to.equal(false)
  })
})
