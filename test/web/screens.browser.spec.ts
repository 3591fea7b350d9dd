import { expect } from 'chai'
import { payloads } from '../data/payloads.ts'
import { needsBrowser } from '../support/browser.ts'
import { until } from '../support/client.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'

const password = 'correct horse 1'

describe('the dashboard in Chromium', function () {
  this.timeout(600_000)
  let dashboard: Dashboard
  /** of the account that is signed in */
  let key: string
  let link: number
  let code: number
  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard()
  })
  after(async () => dashboard?.close())

  it('leads from the sign-up to a link with its QR code, and shows a click', async () => {
    const { app, browser, open, press, seeText, see, write } = dashboard
    await browser.show(1280, 'light')
    await open('')
    await write('input[name=email]', 'ann@example.com')
    await write('input[name=password]', password)
    await press('Create account')
    await seeText('Create your first link')
    await write('#first-url', 'shop.example.com/spring')
    await press('Shorten')
    await seeText('Your link is ready')
    await see(`document.querySelector('.qr-small svg path')`)
    expect(await browser.read(`document.querySelector('.goes a').href`)).to.equal('https://shop.example.com/spring')
    link = Number(await browser.read(`location.pathname.split('/').at(-1)`))
    const alias = await browser.read<string>(`document.querySelector('h1 > span').lastChild.textContent`)
    expect((await app.visit(`/${alias}`)).headers.get('location')).to.equal('https://shop.example.com/spring')
    await until(
      async () => {
        await open(`/links/${link}`)
        return browser.read<string>(`document.querySelector('.totals .figure').innerText`)
      },
      (clicks) => clicks === '1',
    )
    await press('Edit')
    await see(`document.querySelector('#link-form .big-input')?.value.includes('spring')`)
    await write('#link-form .big-input', 'https://shop.example.com/summer')
    await press('Save changes')
    await seeText('https://shop.example.com/summer')
    expect((await app.visit(`/${alias}`)).headers.get('location')).to.equal('https://shop.example.com/summer')
  })

  it('says while a name is typed whether it is free, and which field is wrong', async () => {
    const { open, press, see, seeText, write } = dashboard
    await open('/links?sheet=new')
    await write('#link-form .joined input', 'taken')
    await seeText('/taken is free')
    await write('#link-form .big-input', 'not an address')
    await press('Create link')
    await see(`document.querySelector('#link-form .big-input[aria-invalid=true]')`)
    await write('#link-form .big-input', 'https://example.com/taken')
    await press('Create link')
    await seeText('Your link is ready')
    await open('/links?sheet=new')
    await write('#link-form .joined input', 'taken')
    await see(`document.querySelector('#link-form .joined + .message.bad')`)
  })

  it('archives and deletes many links at once, and takes a failure back', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    await open('/account')
    key = await browser.read<string>(
      `fetch('/api/key/add', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"name":"test","scopes":["read","write"]}' }).then((one) => one.json()).then((one) => one.key)`,
    )
    for (const name of ['one', 'two', 'three'])
      await app.post('/api/url/add', {
        key,
        body: { url: 'https://example.com/', custom: `many-${name}`, tags: ['x'] },
      })
    const pick = async (...names: readonly string[]) => {
      await open('/links?q=many-')
      for (const name of names)
        await browser.read(
          `[...document.querySelectorAll('tbody tr')].find((row) => row.innerText.includes('many-${name}')).querySelector('input').click()`,
        )
      await seeText(`${names.length} selected`)
    }
    await pick('one', 'two')
    await press('Archive')
    await seeText('2 links archived')
    await seeText('1 link matches')
    await press('Undo')
    await seeText('3 links match')
    await pick('three')
    await press('Delete')
    await seeText('Delete 1 link?')
    await browser.block('empty', `${app.address}/api/urls/bulk*`)
    await browser.read(`document.querySelector('dialog[open] .danger').click()`)
    await see(`document.querySelector('.toast[role=alert]')`)
    await seeText('many-three')
    await browser.block()
  })

  it('reads a code back while its design changes, and warns of colors that scanners do not read', async () => {
    const { browser, open, press, seeText, see, write } = dashboard
    await open(`/qr/new?link=https://example.com/menu`)
    await seeText('Scans reliably')
    await write('.color input:not([type])', '#ffe08a')
    await seeText('Some scanners will not read it')
    await write('.color input:not([type])', '#0a3b5c')
    await seeText('Scans reliably')
    await press('Save design')
    await seeText('Download')
    code = Number(await browser.read(`location.pathname.split('/').at(-1)`))
    await see(`document.querySelector('h1').innerText.includes('example.com/menu')`)
  })

  it('says of a QR code whose address leads to this machine only that a phone cannot open it', async () => {
    const { app, browser, open, seeText, write } = dashboard
    const localOnly = `A phone cannot open the code: ${new URL(app.app.baseUrl).host} leads`
    for (const screen of ['/qr', `/qr/${code}`, `/links/${link}`]) {
      await open(screen)
      await seeText(localOnly)
    }
    await open('/qr/new')
    await write('.form-grid select', 'text')
    await write('textarea', 'Hello')
    await seeText('Scans reliably')
    expect(await browser.read(`document.body.innerText.includes('A phone cannot')`)).to.equal(false)
  })

  it('has no fault of contrast, names or sizes on any screen, on phones and desktops, in light and dark', async () => {
    const { app, open } = dashboard
    const long = 'a-name-that-is-as-long-as-a-name-can-be-and-has-no-place-to-break-xx'.slice(0, 64)
    await app.post('/api/url/add', { key, body: { url: `https://example.com/${'x'.repeat(900)}`, custom: long } })
    const screens = [
      '',
      '?period=today',
      '?period=custom&from=2026-01-01&to=2026-01-31',
      '/links',
      '/links?q=nothing-has-this',
      '/links?tag=x&archived=all',
      '/links?sheet=new',
      `/links/${link}`,
      `/links/${link}?sheet=edit`,
      '/qr',
      `/qr/${code}`,
      '/qr/new',
      '/account',
      '/nothing/here',
    ]
    const faults: string[] = []
    for (const screen of screens) {
      await open(screen)
      for (const fault of await dashboard.faultsInWindows()) faults.push(`${screen} ${fault}`)
    }
    expect(faults).to.deep.equal([])
  })

  it('reports that the service cannot be reached when a response is cut off, and recovers when it can', async () => {
    const { browser, open, press, seeText } = dashboard
    await open('/pixels')
    await browser.read(`(() => {
      const real = window.fetch
      // the status arrives, the body does not
      window.fetch = async () => new Response(new ReadableStream({ pull: (body) => body.error(new TypeError('cut off')) }))
      window.mendNetwork = () => (window.fetch = real)
      document.dispatchEvent(new Event('visibilitychange'))
    })()`)
    await seeText('The service cannot be reached.')
    await browser.read('window.mendNetwork() && undefined')
    await press('Try again')
    await dashboard.see(`!document.body.innerText.includes('cannot be reached')`)
    expect(browser.errors).to.deep.equal([])
  })

  it('shows user input as text only', async () => {
    const { app, browser, open } = dashboard
    await browser.show(1280, 'light')
    const ids: number[] = []
    for (const text of payloads) {
      const body = {
        url: 'https://example.com/',
        title: text,
        description: text,
        notes: text,
        tags: [text.slice(0, 50)],
      }
      const made = await app.post('/api/url/add', { key, body })
      const { json } = made.status === 200 ? made : await app.post('/api/url/add', { key, body: { ...body, tags: [] } })
      ids.push(Number(json['id']))
      await app.post('/api/qr/add', { key, body: { type: 'text', data: text, name: text } })
    }
    const screens = ['/links?limit=100', '/qr?limit=96', ...ids.slice(0, 3).map((id) => `/links/${id}?sheet=edit`)]
    for (const screen of screens) {
      await open(screen)
      expect(await browser.read(`'canary' in window`), screen).to.equal(false)
      expect(browser.problems(), screen).to.deep.equal([])
    }
    expect(browser.errors).to.deep.equal([])
  })

  it('signs out, and asks for the sign-in at the next screen', async () => {
    const { app, browser, open, press, see, seeText, write } = dashboard
    await open('')
    await press('Account: ann@example.com')
    await press('Sign out')
    await see(`document.querySelector('.sign-in form')`)
    await write('input[name=email]', 'ann@example.com')
    await write('input[name=password]', 'wrong horse 1')
    await press('Sign in')
    await seeText('The e-mail address or the password is wrong.')
    await write('input[name=password]', password)
    await press('Sign in')
    await see(`document.querySelector('.side')`)
    const { headers } = await app.get('/dashboard')
    expect(headers.get('Content-Security-Policy'))
      .to.include(`frame-ancestors 'none'`)
      .and.include(`require-trusted-types-for 'script'`)
      .and.not.include('unsafe')
    expect(browser.errors).to.deep.equal([])
  })
})
