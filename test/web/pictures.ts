// Makes the pictures of the dashboard in docs/pictures, from sample data: npm run pictures
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { account as accounts } from '../../src/commands/accounts/account.ts'
import { report } from '../../src/commands/operator/report.ts'
import type { Click } from '../../src/events/statistics/click.ts'
import { systemMetadata } from '../../src/events/event.ts'
import { until } from '../support/client.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'
import { click, clicked, fresh } from '../support/events.ts'
import { randomFrom } from '../support/faults.ts'

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
/** bytes that a picture may have */
const most = 100 * 1024
const day = 86_400_000
const random = randomFrom(7)
/** Draws one of a list, the first ones most often. */
const draw = <T>(list: readonly T[]): T => list[Math.min(random(list.length), random(list.length))]!

const countries = ['DE', 'US', 'FR', 'GB', 'ES', 'NL', 'JP', 'BR']
const referrers = ['', 'news.example', 'social.example', 'mail.example', 'search.example']
/** how visitors came, by their referrers */
const media = { '': 'direct', 'news.example': 'other', 'social.example': 'social', 'mail.example': 'mail' } as const
const browsers = ['Chrome', 'Safari', 'Firefox', 'Edge']
const devices = [
  ['mobile', 'iOS'],
  ['desktop', 'Windows'],
  ['mobile', 'Android'],
  ['desktop', 'macOS'],
] as const

/** Returns which revision of the first link has sent a click where: one of them had a typing error, for a day. */
const sentBy = (link: number, back: number): Partial<Click> => {
  if (link !== 1 || back > 12) return {}
  const revision = back > 3 ? 1 : back === 3 ? 2 : 3
  if (random(3) === 0) return { revision, country: 'DE', rule: 'location:germany', destination: 2 }
  return { revision, destination: revision === 2 ? 1 : 0 }
}

/**
 * Returns clicks of the last 29 days, more of them by day than by night, and more each week. All are in the period that
 * is shown.
 */
const clicksOf = (link: number, account: number, perDay: number): readonly Click[] =>
  Array.from({ length: 29 }, (_, n) => n).flatMap((back) =>
    Array.from({ length: Math.round((perDay * (40 - back + random(12))) / 40) }, () => {
      const [device, os] = draw(devices)
      const referrer = draw(referrers)
      return click({
        link,
        account,
        at: new Date(Date.now() - back * day - random(day / 2)).toISOString(),
        source: { kind: 'link', id: link },
        country: draw(countries),
        language: draw(['de', 'en', 'fr', 'es']),
        referrer,
        medium: media[referrer as keyof typeof media] ?? 'search',
        browser: { family: draw(browsers), version: '130' },
        os: { family: os, version: '' },
        device,
        visitor: random(perDay * 20)
          .toString(16)
          .padStart(16, '0'),
        ...sentBy(link, back),
      })
    }),
  )

const links = [
  ['spring', 'https://shop.example.com/spring', 'Spring sale', ['campaign', 'newsletter'], 60],
  ['menu', 'https://cafe.example.com/menu', 'Menu on the tables', ['print'], 34],
  ['jobs', 'https://example.com/careers', 'Open positions', ['hr'], 12],
  ['talk', 'https://conference.example.org/2026/keynote', 'Slides of the keynote', ['event'], 9],
  ['start', 'https://docs.example.com/start', 'Getting started', ['product'], 21],
] as const

/**
 * Makes links with a story: one member mistypes a destination, and another restores it. Returns the ids of the first
 * and of their account.
 */
const seed = async ({ app, browser }: Dashboard) => {
  const key = await browser.read<string>(
    `fetch('/api/key/add', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"name":"campaign-sync","scopes":["read","write","account"]}' }).then((one) => one.json()).then((one) => one.key)`,
  )
  const { id: account } = (await app.get('/api/account', { key })).json['data'] as { id: number }
  const ids: number[] = []
  for (const [custom, url, title, tags, perDay] of links) {
    const { json } = await app.post('/api/url/add', { key, body: { url, custom, title, tags } })
    const id = Number(json['id'])
    ids.push(id)
    const clicks = clicksOf(id, account, perDay)
    for (let n = 0; n < clicks.length; n += 500) {
      const batch = clicked(...clicks.slice(n, n + 500))
      const data = {
        ...batch.data,
        destinations: [url, 'https://shop.example.com/sprng', 'https://shop.example.com/de/fruehling'],
      }
      const events = [fresh({ ...batch, data })]
      await app.app.ledger.store.append([{ stream: `clicks-pictures-${randomUUID()}`, expected: 'no_stream', events }])
    }
  }
  const [spring = 0] = ids
  const url = links[0][1]
  const change = (body: object) => app.put(`/api/url/${spring}/update`, { key, body })
  await change({ url, geotarget: [{ location: 'Germany', link: 'https://shop.example.com/de/fruehling' }] })
  await change({ url: 'https://shop.example.com/sprng' })
  await app.post(`/api/url/${spring}/restore`, { key, body: { revision: 1 } })
  const total = async () => ((await app.get(`/api/url/${spring}`, { key })).json['data'] as { clicks: number }).clicks
  await until(total, (clicks) => clicks > 1000)
  return { link: spring, account }
}

/** Makes the signed-in account an operator, and other accounts whose links are reported. */
const seedOperator = async ({ app }: Dashboard, operator: number) => {
  const { handle } = app.app.ledger.handler
  await handle(accounts, { type: 'MarkOperator', id: operator }, systemMetadata(operator))
  const others = ['noor', 'felix', 'cafe-central', 'newsroom'].map((name) => app.register(name))
  const [noor, felix] = await Promise.all(others)
  const reports = [
    [felix!, 'bank-login', 'phishing', 'It asks for the password of my bank.'],
    [noor!, 'win', 'spam', 'The same message came ten times today.'],
  ] as const
  for (const [owner, custom, reason, message] of reports) {
    const { json } = await app.post('/api/url/add', { key: owner.key, body: { url: 'https://example.org/', custom } })
    const sent = {
      kind: 'link',
      subject: Number(json['id']),
      address: `go.example.com/${custom}`,
      reason,
      message,
    } as const
    const id = custom === 'win' ? '4hq8v2ke' : '7kq2m9xd'
    const command = { type: 'SendReport', id, account: owner.id, email: 'visitor@example.com', ...sent } as const
    await handle(report, command, systemMetadata(owner.id))
  }
}

const dashboard = await openDashboard({ CHECKPOINT_SECONDS: '1', BASE_URL: 'http://go.example.com' })
try {
  const { browser, open, press, seeText, write } = dashboard
  await mkdir(folder, { recursive: true })
  await browser.show(1280, 'light')
  await open('')
  await write('input[name=email]', 'mara@example.com')
  await write('input[name=password]', 'correct horse 1')
  await press('Create account')
  await seeText('Create your first link')
  const { link, account } = await seed(dashboard)
  await seedOperator(dashboard, account)
  const screens = [
    ['overview', ''],
    ['medium', ''],
    ['links', '/links'],
    ['link', `/links/${link}`],
    ['history', '/history'],
    ['proof', '/proof'],
    ['qr', `/qr/new?link=https://go.example.com/menu`],
    ['accounts', '/operator'],
    ['reports', '/operator/reports'],
    ['health', '/operator/health'],
  ] as const
  for (const [name, path] of screens) {
    await open(path)
    // the designer reads the code back
    if (name === 'qr') await seeText('Scans reliably')
    if (name === 'medium') {
      await press('Medium')
      await seeText('Social networks')
    }
    for (const scheme of ['light', 'dark'] as const) {
      await browser.show(1280, scheme)
      if (name === 'medium')
        await browser.read(
          `scrollTo(0, document.querySelector('.breakdown').getBoundingClientRect().top + scrollY - 170)`,
        )
      await new Promise((done) => setTimeout(done, 500))
      const picture = await browser.screenshot()
      if (picture.length > most)
        throw new Error(`${name}-${scheme}.webp has ${picture.length} bytes, more than ${most}`)
      await writeFile(`${folder}${name}-${scheme}.webp`, picture)
    }
  }
} finally {
  await dashboard.close()
}
process.exit(0)
