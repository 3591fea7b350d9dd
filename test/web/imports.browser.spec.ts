import { needsBrowser } from '../support/browser.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'

const password = 'correct horse 1'
const file = [
  'alias,url,title,created,clicks,wish',
  'spring,https://example.com/spring,Spring,2023-05-01,1200,x',
  'summer,https://example.com/summer,Summer,2023-06-01,30,',
  'broken,not an address,Broken,2023-06-01,1,',
].join('\n')

describe('imports in the dashboard', function () {
  this.timeout(300_000)
  let dashboard: Dashboard

  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard({ DOMAIN_CHECK: 'off' })
    const { app, browser, open, press, see, write } = dashboard
    const { email } = await app.register()
    await browser.show(1440, 'light')
    await open('/links')
    await write('input[name=email]', email)
    await write('input[name=password]', password)
    await press('Sign in')
    await see(`document.querySelector('.menu')`)
  })
  after(() => dashboard?.close())

  it('are found from the list of links, and checked before anything is created', async () => {
    const { browser, press, see, seeText } = dashboard
    await see(`[...document.querySelectorAll('a')].some((one) => one.textContent === 'Import')`)
    await browser.read(`[...document.querySelectorAll('a')].find((one) => one.textContent === 'Import').click()`)
    await seeText('Nothing imported yet')
    await dashboard.looksRight()
    // a chosen file
    await browser.read(`(() => {
      const chosen = new DataTransfer()
      chosen.items.add(new File([${JSON.stringify(file)}], 'links.csv'))
      const input = document.querySelector('input[type=file]')
      input.files = chosen.files
      input.dispatchEvent(new Event('change', { bubbles: true }))
    })()`)
    await press('Check the file')
    await seeText('2 links would be created')
    await seeText('The column "wish" is not known, and is left out.')
    await seeText('1 failed')
    await dashboard.looksRight()
  })

  it('create the links once the user confirms, and are undone', async () => {
    const { press, seeText } = dashboard
    await press('Import')
    await seeText('2 links created')
    await seeText('Done')
    await dashboard.looksRight()
    await press('Take back')
    await seeText('Taken back')
    await dashboard.looksRight()
  })

  it('are one entry of the history, with their changes behind it', async () => {
    const { open, press, see, seeText } = dashboard
    await open('/history')
    await seeText('more of this request')
    await dashboard.looksRight()
    const request = `new URLSearchParams(location.search).get('group')`
    await press('and 5 more of this request')
    await see(request)
    await seeText('Link created')
    await dashboard.looksRight()
  })
})
