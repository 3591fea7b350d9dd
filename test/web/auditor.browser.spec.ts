import { expect } from 'chai'
import { Receipt, verifyReceipt } from '../../src/events/proof/receipt.ts'
import { parseVerifier } from '../../src/lib/transparency/note.ts'
import { verifyReceipt as verifyInPage } from '../../src/web/screens/proof/verify.ts'
import { needsBrowser } from '../support/browser.ts'
import { until } from '../support/client.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'

describe('history and time in the dashboard', function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  /** of the account that is signed in */
  let key: string
  let link: number
  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard({ CHECKPOINT_SECONDS: '1' })
    const { app, browser, open, press, seeText, write } = dashboard
    await browser.show(1280, 'light')
    await open('')
    await write('input[name=email]', 'mara@example.com')
    await write('input[name=password]', 'correct horse 1')
    await press('Create account')
    await seeText('Create your first link')
    key = await browser.read<string>(
      `fetch('/api/key/add', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"name":"campaign-sync","scopes":["read","write","account"]}' }).then((one) => one.json()).then((one) => one.key)`,
    )
    const made = await app.post('/api/url/add', {
      key,
      body: { url: 'https://shop.example.com/spring', custom: 'spring' },
    })
    link = Number(made.json['id'])
    await app.visit('/spring')
    await until(
      async () => (await app.get(`/api/url/${link}/revisions`, { key })).json['data'].revisions[0].clicks as number,
      (clicks) => clicks === 1,
    )
    await app.put(`/api/url/${link}/update`, { key, body: { url: 'https://shop.example.com/sprng', tags: ['sale'] } })
  })
  after(async () => dashboard?.close())

  const goes = () => dashboard.browser.read<string>(`document.querySelector('.goes a').href`)

  it('shows changes, previews an undo, does it, and reverts it', async () => {
    const { browser, open, press, see, seeText } = dashboard
    await open(`/links/${link}`)
    await seeText('API key campaign-sync · revision 1')
    const lines = await browser.read<string>(`document.querySelector('.event-list .diff').innerText`)
    expect(lines).to.include('https://shop.example.com/spring').and.include('https://shop.example.com/sprng')
    await seeText('Clicks under this revision')
    await press('Restore this version')
    await see(`document.querySelector('dialog[open] .diff')?.innerText.includes('sale')`)
    await press('Restore')
    await see(`document.querySelector('.goes a').href.endsWith('/spring')`)
    await press('Undo')
    await see(`document.querySelector('.goes a').href.endsWith('/sprng')`)
    await see(`document.querySelectorAll('.event-list > li').length === 4`)
  })

  it('slides to the past, where nothing can be changed, and back to now', async () => {
    const { browser, open, press, see, seeText } = dashboard
    await open(`/links/${link}`)
    await browser.read(`document.getElementById('moment').focus()`)
    const step = (name: string) =>
      browser.read(
        `document.getElementById('moment').dispatchEvent(new KeyboardEvent('keydown', { key: '${name}', bubbles: true, cancelable: true }))`,
      )
    await step('ArrowLeft')
    await seeText('Viewing the past, read-only')
    await see(`document.querySelector('.goes a').href.endsWith('/spring')`)
    expect(await browser.read(`document.querySelector('.link-head .do .button').disabled`)).to.equal(true)
    expect(await browser.read(`document.querySelector('.link-head .do .button').title`)).to.include('Go back to now')
    expect(await browser.read('location.search')).to.include('at=event')
    await press('Links')
    await seeText('Viewing the past, read-only')
    await press('Previous change')
    await press('Previous change')
    await open(await browser.read<string>(`location.pathname.slice('/dashboard'.length) + location.search`))
    await seeText('Viewing the past, read-only')
    await press('Back to now')
    await see(`!document.documentElement.hasAttribute('data-past')`)
    await open(`/links/${link}`)
    expect(await goes()).to.include('sprng')
  })

  it('finds a deleted link in the history of the account, and brings it back', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    await app.del(`/api/url/${link}/delete`, { key })
    await open('/history?q=nothing+has+this')
    await seeText('No change matches these filters')
    await open('/history?q=Spring&deleted=true')
    await see(
      `document.querySelector('[type=search][placeholder="Search actions, values, people"]')?.value === 'Spring'`,
    )
    await seeText('Link deleted')
    await press('Restore')
    await seeText('It is restored with its address')
    await see(`!document.querySelector('dialog[open] .primary').disabled`)
    await browser.read(`document.querySelector('dialog[open] .primary').click()`)
    await seeText('No change matches these filters')
    expect((await app.visit('/spring')).status).to.equal(302)
  })

  it('says that a value was erased where the history cannot read it any more', async () => {
    const { browser, open, see, seeText } = dashboard
    await open('')
    // as the API answers once the key of an account is destroyed: its members can no longer sign in
    await browser.read(`((real) => {
      window.fetch = async (address, options) => {
        const answer = await real(address, options)
        if (!String(address).includes('/history?')) return answer
        const text = (await answer.text()).replaceAll('"mara@example.com"', '"unreadable"')
        return new Response(text, { status: answer.status, headers: answer.headers })
      }
    })(window.fetch)`)
    await browser.read(
      `document.querySelector('main').append(Object.assign(document.createElement('a'), { id: 'there', href: '/dashboard/history?resource=account' }))`,
    )
    await browser.read(`document.querySelector('#there').click()`)
    await seeText('Account created')
    await see(`document.querySelector('.event-list .diff .erased')?.innerText === 'permanently erased'`)
    await see(`document.querySelector('.event-list .diff .erased').title.includes('was destroyed')`)
  })

  it('saves receipts that are valid outside, and checks them in the page itself', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    const { key: proofKey, events } = (await app.get('/api/proof', { key })).json as { key: string; events: number }
    await until(
      async () => (await app.get('/api/proof', { key })).json['checkpoint']?.events as number,
      (signed) => signed >= events,
    )
    await open('/proof')
    await press('Check the newest change')
    await seeText('The receipt is valid')
    await browser.read(
      `URL.createObjectURL = (file) => { void file.text().then((text) => { window.saved = text }); return 'blob:' }`,
    )
    await see(`document.querySelector('.receipts button')`)
    // the oldest: the newest may be in no signed checkpoint yet
    await browser.read(`[...document.querySelectorAll('.receipts button')].at(-1).click()`)
    await see('window.saved')
    const receipt = Receipt.parse(JSON.parse(await browser.read<string>('window.saved')))
    expect(verifyReceipt(receipt, parseVerifier(proofKey)!).size).to.be.greaterThan(receipt.proof.index)
    expect((JSON.parse(receipt.click ?? '{}') as { link?: number }).link).to.equal(link)
    // Chromium has Ed25519: one changed letter is detected
    const forged = { ...receipt, click: receipt.click?.replace('"at":"2', '"at":"1') }
    expect((await verifyInPage(forged as never, proofKey)).failed).to.equal('click')
    expect((await verifyInPage(receipt as never, proofKey)).failed).to.equal(undefined)
  })

  it('has no fault of contrast, names or sizes on any screen, on phones and desktops, in light and dark', async () => {
    const { app, open } = dashboard
    const [newest] = (await app.get(`/api/url/${link}/history`, { key })).json['data'].events as {
      event: number
      time: string
    }[]
    const at = `at=event:${newest!.event - 1}@${newest!.time.replace(' ', 'T')}Z`
    const screens = [
      '/history',
      '/proof',
      '/history?resource=url&from=2026-01-01',
      '/history?resource=bio',
      `/history?of=url-${link}`,
      `/links/${link}`,
      `/links/${link}?${at}`,
      `/links?${at}`,
      `/account?${at}`,
    ]
    const faults: string[] = []
    for (const screen of screens) {
      await open(screen)
      for (const fault of await dashboard.faultsInWindows()) faults.push(`${screen} ${fault}`)
    }
    expect(faults).to.deep.equal([])
  })
})
