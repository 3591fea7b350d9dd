import { openDatabase } from '../src/postgres/database.ts'
import { appendClicks } from './clickdata.ts'
import { type Bench, count, type Line, median, reach, type Service } from './kit.ts'

const day = 86_400_000

const lists = 'country,referrer,browser,os,device,language,source,rule,link'

/** Measures the statistics of an account by a filter that most clicks pass, with all lists. */
const countFiltered = async ({ get, key }: Service, clicks: number, runs: number): Promise<Line> => {
  const ask = async (query: string) => (await get(`/api/stats?by=${lists}${query}`, { key })).json['data']
  const { by } = await ask('&class=human,bot')
  const sources: readonly { readonly value: string; readonly count: number }[] = by.source
  const visits = sources.reduce((sum, row) => sum + row.count, 0)
  if (visits !== clicks) throw new Error(`${visits} visits were counted, not ${clicks}`)
  const ms: number[] = []
  for (let run = 0; run < runs; run++) {
    const start = performance.now()
    await ask('&source=link')
    ms.push(performance.now() - start)
  }
  const taken = median(ms)
  const what = `   statistics by a filter that most of ${count(clicks)} clicks pass, with ${lists.split(',').length} lists`
  return { what, result: `${(taken / 1000).toFixed(2)} s`, target: '<= 1.5 s', met: taken <= 1500 }
}

/** Measures rehearsing a draft, and counting by filters, with a million clicks of one link. */
export const rehearse = async (bench: Bench): Promise<Line[]> => {
  const [clicks, runs] = [bench.size(1_000_000, 20_000), bench.size(3, 1)]
  const connection = await bench.database()
  const service = await bench.service(connection)
  const { key } = service
  const { json } = await service.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
  // the clicks have the ids of the first account and the first link
  if (service.id !== 1 || json['id'] !== 1) throw new Error('the database is not empty')
  for (const url of ['https://example.com/1', 'https://example.com/2'])
    await service.put('/api/url/1/update', { key, body: { url } })
  const db = openDatabase(connection, { name: 'bench', max: 2, timeout: 60_000, onError: () => {} })
  // a rehearsal takes the clicks of 30 days
  const [from, to] = [new Date(Date.now() - 29 * day), new Date()]
  await appendClicks(db, { clicks, links: 1, hot: 0, accounts: 1, visitors: 300_000, from, to })
  await db.destroy()

  const body = {
    draft: {
      geotarget: [{ location: 'Canada', link: 'https://example.com/ca' }],
      devicetarget: [{ device: 'iphone', link: 'https://example.com/app' }],
      languagetarget: [{ language: 'pt', link: 'https://example.com/pt' }],
    },
  }
  const rehearsed = async () => (await service.post('/api/url/1/rehearse', { key, body })).json['data']
  await reach('visits', clicks, async () => (await rehearsed())?.total.visits, 300_000)
  const ms: number[] = []
  for (let run = 0; run < runs; run++) {
    const start = performance.now()
    await rehearsed()
    ms.push(performance.now() - start)
  }
  const filtered = await countFiltered(service, clicks, runs)
  await service.stop()
  const taken = median(ms)
  const what = `   rehearsal with ${count(clicks)} clicks of a link`
  return [{ what, result: `${(taken / 1000).toFixed(2)} s`, target: '<= 5 s', met: taken <= 5000 }, filtered]
}
