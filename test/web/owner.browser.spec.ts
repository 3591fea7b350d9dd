import { expect } from 'chai'
import { payloads } from '../data/payloads.ts'
import { needsBrowser } from '../support/browser.ts'
import { until } from '../support/client.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'
import { fakeDns } from '../support/dns.ts'
import { long } from '../support/faults.ts'
import { postForm } from '../support/forms.ts'

const [phone, desktop] = [390, 1440]

const allClicks = `document.querySelector('.totals li:last-child .figure').innerText`
const lists = ['/channels', '/campaigns', '/pixels', '/domains', '/splash', '/overlays', '/bio', '/keys', '/webhooks']

describe("the owner's screens in Chromium", function () {
  this.timeout(600_000)
  const dns = fakeDns()
  let dashboard: Dashboard
  let key: string
  let link: number
  /** screens of what the tests have made, which the last tests look at once more */
  const screens: string[] = []
  const oneOfEach = () => new Map(screens.map((one) => [one.split('/')[1], one])).values()
  const post = async (path: string, body: object = {}) => {
    const { status, json, text } = await dashboard.app.post(path, { key, body })
    expect(status, text).to.equal(200)
    return json as { id: number; link: string }
  }
  const here = () => dashboard.browser.read<string>(`location.pathname.replace('/dashboard', '')`)
  const idHere = async () => {
    await dashboard.see(`/\\d$/.test(location.pathname)`)
    const path = await here()
    screens.push(path)
    return Number(path.split('/').at(-1))
  }
  /** Returns the query of the moment that an answer of the API shows, which is that of its newest event. */
  const momentOf = async (path: string) => {
    const shown = (await dashboard.app.get(path, { key })).headers.get('Linkledger-At')
    const event = Math.max(...(shown?.match(/\d+/g) ?? []).map(Number))
    expect(event, String(shown)).to.be.greaterThan(0)
    return `at=event:${event}@${new Date().toISOString().slice(0, 19)}Z`
  }
  /** Writes into the field with this label. */
  const fill = (label: string, value: string) =>
    dashboard.browser.read<boolean>(`((root) => {
      const label = [...root.querySelectorAll('label')].find((one) => one.innerText.trim() === ${JSON.stringify(label)})
      const field = document.getElementById(label.htmlFor)
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, ${JSON.stringify(value)})
      field.dispatchEvent(new Event('input', { bubbles: true }))
      field.dispatchEvent(new Event('change', { bubbles: true }))
      return true
    })(document.querySelector('dialog[open]') ?? document)`)
  const tick = (label: string) =>
    dashboard.browser.read(
      `[...document.querySelector('dialog[open]').querySelectorAll('label')].find((one) => one.innerText.includes(${JSON.stringify(label)})).click()`,
    )
  const gone = (text: string) =>
    dashboard.see(`!document.querySelector('main').innerText.includes(${JSON.stringify(text)})`)

  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard(
      { DOMAIN_CHECK: 'txt', REGISTRATION: 'open' },
      {
        resolver: dns.resolver,
      },
    )
    const { app, browser, open, press, see, write } = dashboard
    key = (await app.register()).key
    await browser.show(desktop, 'light')
    await open('')
    await press('Create an account')
    await write('input[name=email]', 'olga@example.com')
    await write('input[name=password]', 'correct horse 1')
    await press('Create account')
    await see(`document.querySelector('#first-url')`)
    key = await browser.read<string>(
      `fetch('/api/key/add', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"name":"test","scopes":["read","write","account"]}' }).then((one) => one.json()).then((one) => one.key)`,
    )
    link = (await post('/api/url/add', { url: 'https://example.com/spring', custom: 'spring-sale' })).id
    await post('/api/url/add', { url: 'https://example.com/menu', custom: 'menu' })
  })
  after(async () => dashboard?.close())

  for (const [width, name] of [
    [desktop, 'Letters'],
    [phone, 'Window'],
  ] as const)
    it(`leads from nothing to a channel and a campaign with links and their clicks, and takes a deletion back, ${width} wide`, async () => {
      const { app, browser, open, press, seeText } = dashboard
      await browser.show(width, 'light')
      for (const [place, create, path] of [
        ['/channels', 'Create channel', 'channel'],
        ['/campaigns', 'Create campaign', 'campaign'],
      ] as const) {
        await open(place)
        await press(create)
        await fill('Name', name)
        await press(create)
        const id = await idHere()
        await press('Add links')
        await seeText('Add links to')
        await seeText('spring-sale')
        await tick('spring-sale')
        await press('Add 1 link')
        await seeText(`1 link added to ${name}`)
        await app.visit('/spring-sale')
        await until(
          async () => {
            await open(`${place}/${id}`)
            return Number(await browser.read<string>(`document.querySelector('.totals .figure').innerText`))
          },
          (clicks) => clicks > 0,
        )
        await seeText('spring-sale')
        await open(place)
        await press(`Delete ${name}`)
        await seeText(`${name} deleted`)
        await gone(name)
        expect((await app.get(`/api/${path}/${id}`, { key })).status).to.equal(404)
        await press('Undo')
        await seeText(name)
        expect((await app.get(`/api/${path}/${id}`, { key })).status).to.equal(200)
      }
      const { json } = await app.get(`/api/url/${link}`, { key })
      expect(json['details']).to.include({ campaign: Number(screens.at(-1)?.split('/').at(-1)) })
    })

  it('shows the clicks of a campaign and a channel over time and broken down, also at a past moment', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    await browser.show(desktop, 'light')
    const { channel, campaign } = Object.fromEntries(screens.map((one) => [one.split('/')[1]?.slice(0, -1), one]))
    for (const [by, screen] of Object.entries({ channel, campaign })) {
      const id = screen?.split('/').at(-1)
      const total = async (query: string) =>
        (await app.get(`/api/stats?${by}=${id}&${query}`, { key })).json['data'].total.clicks as number
      const clicks = await total('')
      await open(`${screen}?period=7d`)
      await seeText('Exact through event')
      await see(`document.querySelector('.totals .figure').innerText === '${clicks}'`)
      await see(`document.querySelector('.totals li:last-child').innerText.includes('on 1 link')`)
      await press('Table')
      await see(`document.querySelectorAll('.figures tbody tr').length === 7`)
      await browser.read(`globalThis.saved = []; URL.createObjectURL = (file) => (saved.push(file), 'blob:')`)
      await browser.read(`[...document.querySelectorAll('button')].find((one) => one.innerText === 'CSV').click()`)
      await see(`globalThis.saved.length === 1`)
      const csv = await browser.read<string>(`globalThis.saved[0].text()`)
      const days = [...csv.matchAll(/T00:00:00\+00:00,(\d+),/g)].map(([, n]) => Number(n))
      expect(days).to.have.length(7)
      // midnight may have passed between two clicks
      expect(days.reduce((sum, n) => sum + n, 0)).to.equal(clicks)
      await see(
        `document.querySelector('.breakdown a.row[href*="device="]') ?? document.querySelector('.breakdown a.row')`,
      )
      await browser.read(
        `[...document.querySelectorAll('.breakdown a.row')].find((one) => one.innerText.includes('Direct')).click()`,
      )
      await see(
        `location.search.includes('referrer=none') && document.querySelector('.chip b')?.innerText === 'Direct'`,
      )
      // one of its clicks, as it happens
      await see(`document.querySelector('.live.open')`)
      const ever = Number(await browser.read<string>(allClicks))
      await app.visit('/spring-sale')
      await see(`document.querySelector('.feed a')?.innerText === '/spring-sale'`)
      await see(`document.querySelector('.totals .figure').innerText === '${clicks + 1}'`)
      await see(`${allClicks} === '${ever + 1}'`)
      await open(`${screen}?${await momentOf(`/api/${by}/${id}`)}`)
      await seeText('Exact through event')
      await see(`!document.querySelector('.live')`)
    }
  })

  it('leads from each resource to its history, and back', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    await browser.show(desktop, 'light')
    const pixel = await post('/api/pixel/add', { type: 'gapixel', name: 'Watched', tag: 'G-1' })
    const code = await post('/api/qr/add', { type: 'text', data: 'Hello' })
    const made = {
      splash: await post('/api/splash/add', { name: 'Watched' }),
      overlays: await post('/api/overlay/add', { type: 'message', name: 'Watched', message: 'Hello' }),
      bio: await post('/api/bio/add', { name: 'Watched', links: [] }),
      domains: await post('/api/domain/add', { domain: 'https://watched.example.com' }),
      webhooks: await post('/api/webhook/add', { url: 'https://hooks.example.com/w', events: ['*'] }),
    }
    const all = [
      ...[screens.find((one) => one.startsWith('/campaigns')), screens.find((one) => one.startsWith('/channels'))],
      `/qr/${code.id}`,
      ...Object.entries(made).map(([place, { id }]) => `/${place}/${id}`),
    ]
    for (const screen of all) {
      await open(screen ?? '')
      await see(`document.querySelector('main a[href*="/history?of="]')`)
      await browser.read(`document.querySelector('main a[href*="/history?of="]').click()`)
      await see(
        `document.querySelector('h1').innerText.startsWith('History of') && document.querySelector('.event-list li')`,
      )
      await browser.read(`document.querySelector('.head .chips a').click()`)
      await see(`location.pathname === '/dashboard${screen}'`)
    }
    const nameIs = (list: string, named: string) =>
      until(
        async () => (await app.get(`${list}?q=${named}`, { key })).json['data'].result as number,
        (found) => found === 1,
      )
    const restoreVersion = async () => {
      await press('Restore this version')
      await see(
        `document.querySelector('dialog[open] .diff') && !document.querySelector('dialog[open] .primary').disabled`,
      )
      await press('Restore')
    }
    await app.put(`/api/pixel/${pixel.id}/update`, { key, body: { name: 'Renamed', tag: 'G-1' } })
    await open('/pixels')
    await press('History of Renamed')
    await seeText('Watched')
    await restoreVersion()
    await nameIs('/api/pixels', 'Watched')
    const hook = `/api/webhook/${made.webhooks.id}`
    await app.put(`${hook}/update`, { key, body: { name: 'Renamed' } })
    await open(`/history?of=webhook-${made.webhooks.id}`)
    await seeText('Renamed')
    await restoreVersion()
    await until(
      async () => (await app.get(hook, { key })).json['details'].name as string,
      (name) => name !== 'Renamed',
    )
    await open('/keys')
    await press('History of test')
    await seeText('API key created')
  })

  it('takes a link out of a campaign, and back', async () => {
    const { app, browser, open, press, seeText } = dashboard
    await browser.show(phone, 'dark')
    const campaign = screens.findLast((one) => one.startsWith('/campaigns')) ?? ''
    await open(campaign)
    await press('Remove spring-sale')
    await seeText('spring-sale removed')
    await press('Undo')
    await until(
      async () => (await app.get(`/api/url/${link}`, { key })).json['details'].campaign as number | null,
      (found) => found === Number(campaign.split('/').at(-1)),
    )
  })

  it('shows the record that a domain needs, the found records, and that it is verified', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    await browser.show(phone, 'light')
    await open('/domains')
    await press('Add domain')
    await fill('Domain', 'go.example.com')
    await press('Add domain')
    const id = await idHere()
    await seeText('Waiting for DNS')
    await seeText('_linkledger.go.example.com')
    const { verification } = (await app.get(`/api/domain/${id}`, { key })).json['details']
    await seeText(verification.record.value)
    dns.txt.set(verification.record.name, ['something else'])
    await press('Check now')
    await seeText('Different')
    dns.txt.set(verification.record.name, [verification.record.value])
    await press('Check now')
    await seeText('The domain is verified')
    await see(`document.querySelector('.head .mark-good')`)
    await fill('Redirect the root to', 'https://example.com/home')
    await press('Save')
    await seeText('Saved')
    expect((await app.get(`/api/domain/${id}`, { key })).json['details'].redirectroot).to.equal(
      'https://example.com/home',
    )
  })

  it('makes a pixel, and names the field that is wrong', async () => {
    const { browser, open, press, see, seeText } = dashboard
    await browser.show(desktop, 'dark')
    await open('/pixels')
    await press('Add pixel')
    await fill('Name', 'Shop')
    await fill('Pixel ID', '<b>')
    await press('Add pixel')
    await see(`document.querySelector('dialog[open] [aria-invalid=true]')?.value === '<b>'`)
    await fill('Pixel ID', 'G-ABC123')
    await press('Add pixel')
    await seeText('Google Analytics · G-ABC123')
  })

  it('shows a splash page while it is written, as it becomes', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    for (const width of [desktop, phone]) {
      await browser.show(width, 'light')
      await open('/splash/new')
      await fill('Name', `Splash ${width}`)
      await fill('Heading', 'Spring sale')
      await fill('Color', '#b4582a')
      await see(`document.querySelector('.phone .p-title').textContent === 'Spring sale'`)
      expect(await browser.read(`getComputedStyle(document.querySelector('.phone .go')).backgroundColor`)).to.equal(
        'rgb(180, 88, 42)',
      )
      if (width === phone) {
        await press('Preview')
        await see(`document.querySelector('.phone').checkVisibility()`)
        await press('Edit')
      }
      await press('Save')
      const id = await idHere()
      await seeText(`Splash ${width}`)
      const { details } = (await app.get(`/api/splash/${id}`, { key })).json
      expect(details).to.include({ title: 'Spring sale', color: '#b4582a', counter: 10 })
    }
  })

  it('makes a poll, and counts, lists and saves the answers of visitors, erased ones as such', async () => {
    const { app, browser, open, press, see, seeText, write } = dashboard
    await browser.show(desktop, 'light')
    await open('/overlays/new')
    await fill('Type', 'poll')
    await see(`[...document.querySelectorAll('label')].some((one) => one.innerText === 'Question')`)
    await fill('Name', 'One question')
    await fill('Question', 'Tea or coffee?')
    await write('[aria-label="Answer 1"]', 'Tea')
    await write('[aria-label="Answer 2"]', 'Coffee')
    await see(`document.querySelector('.phone').innerText.includes('Coffee')`)
    await press('Save')
    const id = await idHere()
    await seeText('No answers yet')
    await post('/api/url/add', { url: 'https://example.com/', custom: 'asked', type: `overlay-${id}` })
    const page = await app.visit('/asked')
    const hidden = [...page.text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    const action = /<form method="post" action="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const sent = await postForm(new URL(action.replaceAll('&amp;', '&'), `${app.address}/asked`).href, {
      ...Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])),
      choice: 'Tea',
    })
    expect(sent.status).to.be.lessThan(400)
    await until(async () => {
      await open(`/overlays/${id}`)
      return browser.read<boolean>(`document.querySelector('main').innerText.includes('1 answer')`)
    }, Boolean)
    await browser.read(`globalThis.saved = []; URL.createObjectURL = (file) => (saved.push(file), 'blob:')`)
    await press('Export CSV')
    await see(`globalThis.saved.length === 1`)
    expect(await browser.read<string>(`globalThis.saved[0].text()`)).to.match(
      /date,local,choice\r\n[\d-]+ [\d:]+,[\d-]+T[\d:]+[+-][\d:]+,Tea\r\n/,
    )
    await see(
      `[...document.querySelectorAll('.breakdown .row')].map((one) => one.innerText.replaceAll(/\\s+/g, ' ')).join() === 'Tea 1 100 %,Coffee 0 0 %'`,
    )
    await press('Table')
    await see(`document.querySelectorAll('.figures tbody tr').length === 2`)
    await press('Erase')
    await seeText('Erase this answer?')
    await browser.read(`document.querySelector('dialog .danger').click()`)
    await seeText('Answer erased')
    const answers = (await app.get(`/api/overlay/${id}/answers`, { key })).json['data']
    expect(answers.answers[0].fields).to.deep.equal({})
    await open(`/overlays/${id}`)
    await see(`document.querySelector('td .erased')?.innerText === 'permanently erased'`)
    await see(`document.querySelector('.breakdown .name').innerText === 'permanently erased'`)
  })

  it('orders the entries of a bio page with the keyboard, with buttons and by dragging, and keeps their clicks', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    const made = await post('/api/bio/add', {
      name: 'Olga',
      alias: 'olga',
      links: ['One', 'Two', 'Three'].map((title) => ({ title, url: `https://example.com/${title}` })),
    })
    screens.push(`/bio/${made.id}`)
    const stored = async () =>
      (await app.get(`/api/bio/${made.id}`, { key })).json['details'].links as { id: number; title: string }[]
    const ids = new Map((await stored()).map(({ id, title }) => [title, id]))
    const shown = () =>
      browser.read<string[]>(`[...document.querySelectorAll('.p-links b')].map((one) => one.textContent)`)
    await browser.show(desktop, 'light')
    await open(`/bio/${made.id}`)
    await browser.read(
      `document.querySelector('[aria-label="Move Three"]').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true }))`,
    )
    await seeText('Three moved to position 2 of 3')
    expect(await shown()).to.deep.equal(['One', 'Three', 'Two'])
    await press('Move One down')
    await until(shown, (titles) => titles.join() === 'Three,One,Two')
    const [from, to] = await browser.read<readonly { x: number; y: number }[]>(
      `['Two', 'Three'].map((name) => document.querySelector('[aria-label="Move ' + name + '"]').getBoundingClientRect()).map((box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 }))`,
    )
    await browser.drag(from!, { x: to!.x, y: to!.y - 20 })
    await until(shown, (titles) => titles.join() === 'Two,Three,One')
    await press('Save')
    await seeText('Saved')
    const after = await stored()
    expect(after.map(({ title }) => title)).to.deep.equal(['Two', 'Three', 'One'])
    for (const { id, title } of after) expect(id, title).to.equal(ids.get(title))
    await browser.show(phone, 'light')
    await press('Add link')
    await see(`document.querySelectorAll('.sortable > li').length === 4`)
    await press('Remove Link 4')
    await see(`document.querySelectorAll('.sortable > li').length === 3`)
  })

  it('shows a new API key once, replaces it and revokes it', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    const shownKey = () => browser.read<string>(`document.querySelector('dialog[open] .secret code').innerText`)
    for (const width of [desktop, phone]) {
      await browser.show(width, 'light')
      await open('/keys')
      const name = `Import ${width}`
      await press('Create key')
      await fill('Name', name)
      await press('Create key')
      await seeText('Copy this key now')
      const first = await shownKey()
      expect((await app.get('/api/urls', { key: first })).status).to.equal(200)
      await press('I have saved them')
      await seeText(name)
      expect(
        await browser.read<boolean>(`document.documentElement.outerHTML.includes(${JSON.stringify(first)})`),
      ).to.equal(false)
      await press(`Replace ${name}`)
      await fill('The old one expires', '0')
      await press('Replace')
      await seeText('Copy this key now')
      const second = await shownKey()
      await press('I have saved them')
      expect((await app.get('/api/urls', { key: second })).status).to.equal(200)
      await until(
        () => app.get('/api/urls', { key: first }),
        ({ status }) => status === 401,
      )
      await seeText(second.slice(0, second.lastIndexOf('_')))
      await press(`Revoke ${name}`)
      await see(`document.querySelector('dialog[open] .danger')`)
      await browser.read(`document.querySelector('dialog[open] .danger').click()`)
      await seeText(`${name} revoked`)
    }
  })

  it('makes a webhook, tests it, and shows its deliveries', async () => {
    const { browser, open, press, see, seeText } = dashboard
    for (const width of [desktop, phone]) {
      await browser.show(width, 'light')
      await open('/webhooks')
      await press('Create webhook')
      await fill('Address', 'https://hooks.example.com/links')
      await fill('Name', `Warehouse ${width}`)
      await fill('Tags', 'told')
      await press('Create webhook')
      await see(`document.querySelector('dialog[open] .secret code')?.innerText.startsWith('whsec_')`)
      await press('I have saved them')
      const id = await idHere()
      await press('Send a test')
      await seeText('The test was delivered.')
      await post('/api/url/add', { url: 'https://example.com/untold', tags: ['other'] })
      await post('/api/url/add', { url: 'https://example.com/told', tags: ['told'] })
      await until(async () => {
        await open(`/webhooks/${id}`)
        return browser.read<boolean>(`document.querySelector('main').innerText.includes('LinkCreated')`)
      }, Boolean)
      await press('Send again')
      await fill('Continue from', 'event')
      await see(`document.querySelector('dialog[open] input')`)
      await fill('An event number', '0')
      await press('Send again')
      await seeText('The webhook continues from event 0')
      await press('Send again')
      await fill('Continue from', 'event')
      await see(`document.querySelector('dialog[open] input')`)
      await fill('An event number', '0')
      await fill('Up to event', '3')
      await press('Send again')
      await seeText('The webhook sends events 0 to 3 again')
      await press('Switch off')
      await see(`document.querySelector('.head .mark-off')`)
    }
  })

  it('marks links in the list that do not simply lead on, and leads phones to every place', async () => {
    const { browser, open, press, see, seeText } = dashboard
    await post('/api/url/add', { url: 'https://example.com/later', custom: 'later', starts: '2090-01-01' })
    await browser.show(phone, 'light')
    await open('/links?q=later')
    await see(`document.querySelector('.links .mark-wait')`)
    const domain = 'https://gone.example.org'
    const made = await post('/api/domain/add', { domain })
    const lost = await post('/api/url/add', { url: 'https://example.com/lost', custom: 'lost', domain })
    await dashboard.app.del(`/api/domain/${made.id}/delete`, { key })
    for (const place of ['/links?q=lost', `/links/${lost.id}`]) {
      await open(place)
      await seeText('Unreachable')
    }
    await press('More')
    await seeText('API keys')
    await press('API keys')
    await see(`document.querySelector('h1').innerText === 'API keys'`)
  })

  it('offers nothing that changes something at a past moment, and says why', async () => {
    const { browser, open, see, seeText } = dashboard
    await browser.show(phone, 'light')
    const at = await momentOf('/api/webhooks')
    const offered = `[...document.querySelectorAll('main button, main a.button, main input, main select, main textarea')]
      .filter((one) => one.checkVisibility() && !one.matches(':disabled') && !one.closest('[role=search], .toolbar, .pager, .filters, .list thead'))
      .map((one) => (one.ariaLabel ?? one.innerText).trim())
      .filter((name) => !/^(?:Copy|History|Its links|Edit|Preview|Table|CSV|Export CSV|Save as CSV|Today|Show|Remove filter|Refresh|Download|Clear|Fewer|Sources|Referrers|Medium|Countries|Browsers|Devices|Systems|Language|Links|Again|Try again)/.test(name) || /^Edit ./.test(name))`
    const found: string[] = []
    for (const screen of [...lists, ...oneOfEach()]) {
      await open(`${screen}?${at}`)
      await seeText('read-only')
      for (const name of (await browser.read<readonly string[]>(offered)).filter(Boolean))
        found.push(`${screen}: ${name}`)
      await see(
        `[...document.querySelectorAll('main button:disabled')].every((one) => [one.title, one.closest('.writable')?.title].some((why) => why?.includes('Go back to now')) || one.closest('.pager'))`,
      )
    }
    expect(found).to.deep.equal([])
    await open(`/campaigns?${at}`)
    await see(`document.querySelector('main [aria-label^="Delete "]').disabled`)
  })

  it('has no fault on any of these screens, on phones and desktops, in light and dark', async () => {
    const { open } = dashboard
    const all = [
      ...[...lists, '/more'],
      ...['/bio/new', '/splash/new', '/overlays/new', '/pixels?q=nothing', '/channels/999', '/bio/999'],
      ...oneOfEach(),
    ]
    const faults: string[] = []
    for (const screen of all) {
      await open(screen)
      for (const fault of await dashboard.faultsInWindows()) faults.push(`${screen} ${fault}`)
    }
    expect(faults).to.deep.equal([])
  })

  // German words are the longest
  for (const language of long ? ['de', 'fr', 'es'] : ['de'])
    it(`fits the narrowest phones in ${language}, too`, async () => {
      const { browser, faults, open } = dashboard
      await browser.prefer(language)
      await browser.show(320, 'light')
      const found: string[] = []
      for (const screen of ['', '/links', '/account', '/history', '/proof', '/qr/new', ...lists, ...oneOfEach()]) {
        await open(screen)
        expect(await browser.read('document.documentElement.lang')).to.equal(language)
        for (const fault of await faults()) found.push(`${screen}: ${fault}`)
      }
      await browser.prefer('en')
      expect(found).to.deep.equal([])
    })

  it('has no fault in any window either', async () => {
    const { browser, open, press } = dashboard
    const windows = [
      ['/channels', 'Create channel'],
      ['/campaigns', 'Create campaign'],
      ['/pixels', 'Add pixel'],
      ['/domains', 'Add domain'],
      ['/keys', 'Create key'],
      ['/webhooks', 'Create webhook'],
      [screens[0] ?? '', 'Add links'],
    ] as const
    const faults: string[] = []
    for (const [screen, button] of windows) {
      await browser.show(desktop, 'light')
      await open(screen)
      await press(button)
      for (const fault of await dashboard.faultsInWindows()) faults.push(`${button} ${fault}`)
    }
    expect(faults).to.deep.equal([])
  })

  it('shows input of owners and visitors as text only, and loads no picture from another host', async () => {
    const { browser, open } = dashboard
    await browser.show(desktop, 'light')
    const seen: string[] = []
    const picture = 'https://pictures.example.com/a.png'
    const text = payloads.join('\n').slice(0, 2000)
    const name = payloads.join(' ').slice(0, 255)
    const made = async (path: string, place: string, body: object) =>
      seen.push(`${place}/${(await post(path, body)).id}`)
    await made('/api/channel/add', '/channels', { name, description: text })
    await made('/api/campaign/add', '/campaigns', { name })
    await made('/api/splash/add', '/splash', {
      name,
      title: name,
      message: text,
      label: name.slice(0, 60),
      logo: picture,
    })
    await made('/api/overlay/add', '/overlays', { type: 'image', name, message: text, label: name, image: picture })
    await made('/api/bio/add', '/bio', {
      name,
      title: name,
      description: text,
      avatar: picture,
      links: payloads.slice(0, 100).map((title) => ({ title: title.slice(0, 255), url: 'https://example.com/' })),
    })
    await post('/api/pixel/add', { type: 'gapixel', name, tag: 'G-1234' })
    await post('/api/key/add', { name, scopes: ['read'] })
    for (const screen of ['/channels', '/campaigns', '/pixels', '/keys', '/splash', '/overlays', '/bio', ...seen]) {
      await open(screen)
      expect(await browser.read(`'canary' in window`), screen).to.equal(false)
      expect(
        await browser.read(
          `performance.getEntriesByType('resource').every((one) => one.name.startsWith(location.origin))`,
        ),
        screen,
      ).to.equal(true)
      expect(browser.problems(), screen).to.deep.equal([])
    }
    expect(browser.errors).to.deep.equal([])
  })
})
