import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { openClickRecord } from '../../src/clicks/record.ts'
import { localRoute } from '../../src/clicks/spool/folders.ts'
import { problem } from '../../src/lib/problems/problem.ts'
import { openDatabase } from '../../src/postgres/database.ts'
import { openReclassifyJobs } from '../../src/postgres/jobs/reclassify.ts'
import { needsBrowser } from '../support/browser.ts'
import { browser as chrome, until } from '../support/client.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'

const [canada, britain] = ['24.48.0.1', '81.2.69.142']
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'
const figures = `[...document.querySelectorAll('.totals .figure')].map((one) => one.innerText)`

describe('statistics in the dashboard', function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  let key: string
  let link: number
  const visit = (address: string, agent = chrome, headers: Readonly<Record<string, string>> = {}) =>
    dashboard.app.visit('/spring', { 'X-Forwarded-For': address, 'User-Agent': agent, ...headers })
  const row = (name: string) =>
    `[...document.querySelectorAll('.breakdown a.row')].find((one) => one.innerText.includes('${name}'))`
  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard({ TRUST_PROXY: '1' })
    const { app, browser, open } = dashboard
    const account = await app.register()
    key = account.key
    const made = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'spring' } })
    link = made.json['id'] as number
    await browser.show(1280, 'light')
    await open('')
    await browser.read(
      `fetch('/api/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '${JSON.stringify({ email: account.email, password: 'correct horse 1' })}' }).then((one) => one.status)`,
    )
  })
  after(async () => dashboard?.close())

  it('shows a click as it happens, without a reload', async () => {
    const { browser, open, see, seeText } = dashboard
    await open('')
    await seeText('Clicks appear here as they happen')
    await seeText('in the last minute')
    await see(`document.querySelector('.live.open')`)
    await browser.read(`window.stayed = true`)
    await visit(britain)
    await see(`document.querySelector('.feed a')?.innerText === '/spring'`)
    await seeText('United Kingdom · Windows · Direct')
    await see(`${figures}[0] === '1'`)
    await seeText('Exact through event')
    expect(await browser.read('window.stayed')).to.equal(true)
  })

  it('filters everything by a row that is chosen, as the API does, and has it in the address', async () => {
    const { app, browser, open, press, see } = dashboard
    for (let n = 0; n < 3; n++) await visit(canada, firefox, { Referer: 'https://example.net/' })
    const total = async (query: string) => (await app.get(`/api/stats?${query}`, { key })).json['data'].total
    await until(
      () => total(''),
      ({ clicks }) => clicks === 4,
    )
    await open('')
    await see(`${figures}[0] === '4'`)
    await see(row('Canada'))
    // by keyboard: the row is a link
    await browser.read(`${row('Canada')}.focus()`)
    await browser.press('Enter')
    await see(`location.search.includes('country=CA') && ${figures}[0] === '3'`)
    const { clicks, uniqueClicks } = await total('country=CA')
    expect((await browser.read<string[]>(figures)).slice(0, 2)).to.deep.equal([String(clicks), String(uniqueClicks)])
    await see(`${row('Firefox')} === undefined && ${row('example.net')}`)
    await browser.read(`history.back()`)
    await see(`!location.search.includes('country') && ${figures}[0] === '4'`)
    await open('?country=GB&period=7d')
    await see(`${figures}[0] === '1' && document.querySelector('.chip b').innerText === 'United Kingdom'`)
    await press('Remove filter: Country United Kingdom')
    await see(`${figures}[0] === '4' && location.search === '?period=7d'`)
    await open(`/links/${link}?browser=Firefox`)
    await see(`${figures}[0] === '3'`)
  })

  it('opens the visits behind each figure, by keyboard, on a phone and in each language', async () => {
    const { browser, open, see, seeText } = dashboard
    await open('')
    await see(row('Canada'))
    await see(`document.querySelector('.totals .visits')`)
    await browser.read(`${row('Canada')}.parentElement.querySelector('a.visits').focus()`)
    await browser.press('Enter')
    await see(
      `location.pathname === '/dashboard/visits' && document.querySelectorAll('.visit-list tbody tr').length === 3`,
    )
    await seeText('3 visits')
    await seeText('example.net')
    await browser.read(`history.back()`)
    await see(`document.querySelector('.totals li:nth-child(2) .visits')`)
    await browser.read(`document.querySelector('.totals li:nth-child(2) .visits').click()`)
    await seeText('2 visits')
    const faults: string[] = []
    for (const language of ['de', 'es', 'fr', 'en']) {
      await browser.prefer(language)
      await open(`/visits?link=${link}&period=all`)
      await see(`document.querySelectorAll('.visit-list tbody tr').length === 4`)
      for (const width of [320, 1440]) {
        await browser.show(width, 'light')
        faults.push(...(await dashboard.faults()))
      }
    }
    expect(faults).to.deep.equal([])
    await browser.show(1280, 'light')
  })

  it('lists at the foot the omitted visits with their number, and why other tools show other figures', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    const facts = async () => (await app.get('/api/stats?by=class', { key })).json['data']
    await visit(canada, 'Googlebot/2.1')
    await visit(canada, chrome, { 'X-Purpose': 'preview' })
    await fetch(`${app.address}/spring`, { method: 'HEAD', redirect: 'manual' })
    const { total, by } = await until(
      facts,
      ({ total: { visits }, headRequests }) => visits === 6 && headRequests === 1,
    )
    expect(total.clicks).to.equal(4)
    expect(by.class).to.deep.include({ value: 'bot', name: 'bot', count: 1 })
    const faults: string[] = []
    for (const [language, left, head, why] of [
      ['de', 'Nicht als Klicks gezählt: Bots 1 Vorabrufe 1', 'HEAD-Anfragen 1', 'Warum Zahlen abweichen'],
      ['es', 'No se cuentan como clics: Bots 1 Precargas 1', 'Peticiones HEAD 1', 'Por qué difieren las cifras'],
      [
        'fr',
        'Non comptés comme clics : Robots 1 Préchargements 1',
        'Requêtes HEAD 1',
        'Pourquoi les chiffres diffèrent',
      ],
      ['en', 'Not counted as clicks: Bots 1 Prefetches 1', 'HEAD requests 1', 'Why numbers differ'],
    ] as const) {
      await browser.prefer(language)
      await open('')
      await seeText(left)
      await seeText(head)
      await seeText(why)
      await open('/counting')
      await see(`document.querySelector('h1').innerText === ${JSON.stringify(why)}`)
      for (const [width, scheme] of [
        [320, 'light'],
        [1440, 'dark'],
      ] as const) {
        await browser.show(width, scheme)
        faults.push(...(await dashboard.faults()))
      }
    }
    expect(faults).to.deep.equal([])
    await browser.show(1280, 'light')
    await open('')
    await press('Why numbers differ')
    await seeText('A script counts pages, this counts redirects')
    await browser.read(`history.back()`)
    await press('Prefetches 1')
    await see(`location.pathname === '/dashboard/visits' && location.search.includes('class=prefetch')`)
    await seeText('1 visit')
    // with a filter of kinds, the figures are those of these kinds
    await open('?class=bot')
    await seeText('Why numbers differ')
    expect(await browser.read(`document.body.innerText.includes('Not counted as clicks')`)).to.equal(false)
  })

  it('shows and takes times by the clocks of the zone that is chosen in the settings, and UTC to who points at one', async () => {
    const { app, open, press, see, seeText, write } = dashboard
    const zoneOf = async () => (await app.get('/api/account', { key })).json['data'].timezone as string
    const before = await zoneOf()
    await open('/account')
    await write('select', 'Pacific/Kiritimati')
    await until(zoneOf, (zone) => zone === 'Pacific/Kiritimati')
    await seeText('Times in Pacific/Kiritimati')
    await open('?period=today')
    // the day there, wherever the visits of this test are in it
    const there = `new Date().toLocaleDateString('en-GB', { timeZone: 'Pacific/Kiritimati', day: 'numeric', month: 'long', year: 'numeric' })`
    await see(`document.querySelector('main').innerText.includes(${there})`)
    await see(`document.querySelector('.when-button').title.includes(' UTC · ')`)
    await press('Now')
    await see(`document.querySelector('dialog[open] input[type=datetime-local]')`)
    const shown = `document.querySelector('dialog[open] input').value`
    const local = `new Date().toLocaleString('sv', { timeZone: 'Pacific/Kiritimati' }).slice(0, 13).replace(' ', 'T')`
    await see(
      `[0, 3600e3].some((late) => ${shown}.startsWith(${local.replace('new Date()', 'new Date(Date.now() - late)')}))`,
    )
    await press('Cancel')
    await open(`/links/${link}`)
    await press('Edit')
    await press('Schedule')
    await write('input[type=datetime-local]', '2030-03-01T08:00')
    await press('Save changes')
    await until(
      async () => (await app.get(`/api/url/${link}`, { key })).json['details'].starts,
      (starts) => starts === '2030-02-28 18:00:00',
    )
    await app.put(`/api/url/${link}/update`, { key, body: { starts: '' } })
    await app.put('/api/account/update', { key, body: { timezone: before } })
  })

  it('draws the world, and has each chart as a table', async () => {
    const { browser, open, press, see } = dashboard
    await open('')
    await browser.read(`document.querySelector('.map').scrollIntoView()`)
    await see(`document.querySelectorAll('.map path').length > 150`)
    await see(`document.querySelectorAll('.map .step-5').length === 1`)
    await press('Table')
    await see(`document.querySelectorAll('.figures tbody tr').length === 30`)
    // midnight may have passed since
    const last = `[...document.querySelectorAll('.figures tbody tr')].slice(-2).map((row) => Number(row.querySelector('td').innerText))`
    const [before = 0, today = 0] = await browser.read<readonly number[]>(last)
    expect(before + today).to.equal(4)
  })

  it('loads all scripts of the first screen and its chart at once, in the language of the reader', async () => {
    const { browser, open } = dashboard
    await browser.prefer('fr')
    for (const screen of ['', `/links/${link}`, '/links']) {
      await open(screen)
      const named = `[...document.querySelectorAll('link[rel=modulepreload], script')].map((one) => one.href || one.src)`
      expect(await browser.read(`${named}.some((one) => one.includes('/fr-'))`), 'the texts').to.equal(true)
      const late = await browser.read<readonly string[]>(`(() => {
        const named = ${named}
        return performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js') && !named.includes(name))
      })()`)
      expect(
        // the foot of the figures has more texts
        late.filter((name) => !/\/(?:linkledger_world|code|through|fr)\b/.test(name)),
        screen,
      ).to.deep.equal([])
    }
    await browser.prefer('en')
  })

  it('counts which old visits would change class, by rule, changes them, shows both figures, and takes it back', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    await app.put('/api/account/exclusions', { key, body: { countries: ['GB'] } })
    await open('/classes')
    await press('Count what would change')
    await seeText('1 visit would get another class')
    await see(
      `document.querySelector('.figures tbody').innerText.replaceAll(/\\s+/g, ' ').includes('Exclusions People Excluded 1')`,
    )
    await open('?period=today')
    await see(`${figures}[0] === '4'`)
    await open('/classes')
    await press('Change 1 visit')
    await seeText('1 visit got another class')
    await open('?period=all')
    await see(`${figures}[0] === '3'`)
    await press('As counted then')
    await see(
      `${figures}[0] === '4' && document.querySelector('.exact [aria-current]').innerText === 'As counted then'`,
    )
    await open('/visits?period=all&class=human&classes=then')
    await seeText('4 visits')
    const faults: string[] = []
    for (const [language, title] of [
      ['de', 'Einteilung früherer Besuche'],
      ['es', 'Clasificación de visitas anteriores'],
      ['fr', 'Classement des visites passées'],
      ['en', 'Classes of old visits'],
    ] as const) {
      await browser.prefer(language)
      await open('/classes')
      await see(
        `document.querySelector('h1').innerText === ${JSON.stringify(title)} && document.querySelector('.figures')`,
      )
      for (const [width, scheme] of [
        [320, 'light'],
        [1440, 'dark'],
      ] as const) {
        await browser.show(width, scheme)
        faults.push(...(await dashboard.faults()))
      }
    }
    expect(faults).to.deep.equal([])
    await browser.show(1280, 'light')
    await press('Take back')
    await seeText('Taken back.')
    await open('?period=all')
    await see(`${figures}[0] === '4'`)
  })

  it('says why a job in the background has failed, in the language of the reader', async () => {
    const { app, browser, open, seeText } = dashboard
    const { id: account } = (await app.get('/api/account', { key })).json['data'] as { id: number }
    const job = { id: randomUUID(), account, work: 'count', actor: {}, request: 'a test', made: null } as const
    const db = openDatabase(app.connection, { name: 'jobs', max: 1, timeout: 20_000, onError: () => {} })
    const jobs = openReclassifyJobs(db)
    expect(await jobs.begin(job)).to.equal(true)
    await jobs.end(job.id, true, problem('key_ended'))
    await db.destroy()
    for (const [language, text] of [
      ['de', 'Grund: Dieser API-Schlüssel gilt nicht mehr.'],
      ['en', 'Reason: This API key does not work any more.'],
    ] as const) {
      await browser.prefer(language)
      await open('/classes')
      await seeText(text)
    }
  })

  it('says which visits could not be recorded, in the language of the reader', async () => {
    const { app, browser, open, seeText } = dashboard
    const from = new Date(Date.now() - 2 * 86_400_000).toISOString()
    const dropped = { count: 12, from, to: from }
    const record = openClickRecord({ store: app.app.ledger.store, ...localRoute })
    await record.record(0, [{ spool: 'full', seq: 1, dropped }])
    for (const [language, text] of [
      ['en', '12 visits of this service of'],
      ['de', '12 Besuche dieses Dienstes vom'],
      ['es', 'No se pudieron registrar 12 visitas de este servicio'],
      ['fr', '12 visites de ce service du'],
    ] as const) {
      await browser.prefer(language)
      await open('')
      await seeText(text)
    }
    await browser.prefer('en')
    await open('')
    await seeText('Not recorded 12')
  })

  it('has no fault of contrast, names, sizes or moving parts, on phones and desktops, in light and dark', async () => {
    const { browser, open, see } = dashboard
    const faults: string[] = []
    const moved = `new Promise((done) => { let sum = 0; new PerformanceObserver((list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value }).observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(sum), 50) })`
    const screens = [
      '',
      '?country=CA,GB&device=desktop&period=today',
      '?referrer=nothing.example&class=bot',
      `/links/${link}`,
    ]
    for (const [language, some] of [
      ['de', screens],
      ['en', screens.slice(0, 1)],
    ] as const) {
      await browser.prefer(language)
      for (const screen of some) {
        await open(screen)
        await see(`document.querySelector('.exact')`)
        expect(await browser.read<number>(moved), `${screen} moves`).to.be.below(0.1)
        for (const fault of await dashboard.faultsInWindows()) faults.push(`${screen} ${fault}`)
      }
    }
    await browser.prefer('en')
    expect(faults).to.deep.equal([])
  })

  it('opens the visits of an hour, a day and a month from the table of the chart, and those of a row from the lists', async () => {
    const { app, browser, open, press, see, seeText } = dashboard
    const cells = `document.querySelectorAll('.figures td a')`
    const clicks = `[...document.querySelectorAll('.figures td:nth-child(2)')].reduce((sum, one) => sum + Number(one.innerText), 0)`
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    for (const period of ['today', '30d', `custom&from=2025-01-01&to=${tomorrow}`]) {
      await open(`?period=${period}`)
      await see(`document.querySelector('.plot canvas')`)
      await press('Table')
      await see(`${cells}.length > 0 && ${clicks} === 4`)
      await see(`document.querySelector('.figures th time').title.endsWith(' UTC')`)
      // a test at midnight has them in two intervals
      const shown = await browser.read<number>(`Number(${cells}[0].innerText)`)
      await browser.read(`${cells}[0].click()`)
      await see(`document.querySelectorAll('.visit-list tbody tr').length === ${shown}`)
      await see(`document.querySelector('.visit-list time').title.endsWith(' UTC')`)
      expect(await browser.read('location.search')).to.include(period === 'today' ? 'hour=' : 'from=')
    }
    const qr = await app.post('/api/qr/add', {
      key,
      body: { type: 'link', name: 'Poster', data: 'https://example.com/' },
    })
    const bio = await app.post('/api/bio/add', { key, body: { name: 'Us', alias: 'us', links: [] } })
    await app.visit(`/qr/${String(qr.json['link']).split('/').at(-1)}/go`, { 'User-Agent': chrome })
    await app.visit('/us', { 'User-Agent': chrome })
    const counted = async (path: string, name: string) => Number((await app.get(path, { key })).json['details'][name])
    expect([qr.status, bio.status]).to.deep.equal([200, 200])
    await until(
      () => counted(`/api/qr/${qr.json['id']}`, 'scans'),
      (n) => n === 1,
    )
    for (const [screen, found] of [
      ['/links', 4],
      ['/links', 2],
      ['/qr', 1],
      ['/bio', 1],
    ] as const) {
      await open(screen)
      await see(`document.querySelector('a.opens')`)
      const place = screen === '/links' && found === 2 ? 1 : 0
      await browser.read(`document.querySelectorAll('a.opens')[${place}].click()`)
      await see(`document.querySelectorAll('.visit-list tbody tr').length === ${found}`)
      await browser.read('history.back()')
    }
    await open(`/qr/${qr.json['id']}`)
    await seeText('1 scan')
    await see(`document.querySelector('.head a.opens').search.includes('qr=')`)
  })
})
