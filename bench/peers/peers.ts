import { urlOf } from '../../test/support/app.ts'
import { type Bench, count, type Line, median, perSecond, reach, startListening, visitPath } from '../kit.ts'
import { drivers, linkledger, type Peer, type PeerLink, plain } from './drivers.ts'

interface Figures {
  readonly creates: number
  readonly redirects: number
  /** ms */
  readonly list: number
  /** ms */
  readonly statistics: number
  readonly visits: number
}

/** the service that PEER and PEER_URL name; PEER_KEY is its API key */
const elsewhere = (): Peer | undefined => {
  const { PEER, PEER_URL, PEER_KEY = '' } = process.env
  if (PEER === undefined) return undefined
  const driver = drivers[PEER]
  if (!driver || PEER_URL === undefined)
    throw new Error(`set PEER to ${Object.keys(drivers).join(', ')}, and PEER_URL to its address`)
  return driver(PEER_URL.replace(/\/$/, ''), PEER_KEY)
}

const visit = async (address: string, { path }: PeerLink) => {
  const response = await fetch(address + path, { redirect: 'manual', headers: { 'user-agent': browser } })
  await response.arrayBuffer()
  if (response.status < 300 || response.status > 308) throw new Error(`${path} responded ${response.status}`)
}
const browser =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

const ms = async (runs: number, task: () => Promise<unknown>) => {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const start = performance.now()
    await task()
    times.push(performance.now() - start)
  }
  return median(times)
}

/** Runs the same work against one service, and checks that each answered visit is in its statistics. */
const measure = async (bench: Bench, peer: Peer): Promise<Figures> => {
  const seconds = bench.size(5, 1)
  let n = 0
  const create = () => peer.create(`https://example.com/some/long/path/${n++}?utm_source=newsletter`)
  await perSecond(8, seconds / 5, create)
  const creates = await perSecond(8, seconds, create)

  const link = await create()
  const { requests, duration } = await visitPath(peer.address, link.path, bench.size(100_000, 1_000))
  await visit(peer.address, link)
  const sent = requests.total + 1
  await reach(`visits of ${peer.name}`, sent, () => peer.visits(link))
  const runs = bench.size(40, 5)
  return {
    creates,
    redirects: requests.total / duration,
    list: await ms(runs, peer.list),
    statistics: await ms(runs, () => peer.visits(link)),
    visits: sent,
  }
}

const ratio = (ours: number, theirs: number) => (ours / theirs).toFixed(1)

/** Does the same work with this service, a shortener that updates rows, and the service that PEER names, if any. */
export const peers = async (bench: Bench): Promise<Line[]> => {
  const service = await bench.service()
  const rows = await startListening([new URL('plain.mjs', import.meta.url).pathname], {
    DATABASE_URL: urlOf(await bench.database()),
  })
  const ours = await measure(bench, linkledger(service.address, service.key))
  await service.stop()
  const others = [plain(rows.address), elsewhere()].filter((peer) => peer !== undefined)
  const lines: Line[] = []
  for (const peer of others) {
    const theirs = await measure(bench, peer)
    const line = (what: string, result: string) =>
      lines.push({ what: `   ${what}, ours / ${peer.name}`, result, target: '', met: true })
    line(
      'redirects',
      `${ratio(ours.redirects, theirs.redirects)} (${count(ours.redirects)}/s, ${count(theirs.redirects)}/s)`,
    )
    line(
      'creates, 8 at once',
      `${ratio(ours.creates, theirs.creates)} (${count(ours.creates)}/s, ${count(theirs.creates)}/s)`,
    )
    line('list of 10', `${ratio(ours.list, theirs.list)} (${ours.list.toFixed(1)} ms, ${theirs.list.toFixed(1)} ms)`)
    line(
      `statistics of ${count(ours.visits)} visits`,
      `${ratio(ours.statistics, theirs.statistics)} (${ours.statistics.toFixed(1)} ms; ${theirs.statistics.toFixed(1)} ms with ${count(theirs.visits)})`,
    )
  }
  await rows.stop()
  return lines
}
