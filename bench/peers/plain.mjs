// The comparison that runs anywhere: a shortener that updates rows, with one connection pool and no event log. Each redirect inserts a
// visit and adds to the counter of its link before it responds. Started as `node bench/peers/plain.mjs`, with DATABASE_URL.
import { createServer } from 'node:http'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 })
await pool.query(`
  create table links (id bigserial primary key, alias text not null unique, url text not null, clicks bigint not null default 0,
    created timestamptz not null default now());
  create table visits (link bigint not null, at timestamptz not null default now(), agent text, referrer text, address text);
  create index on visits (link, at)`)

/** @param {import('node:http').IncomingMessage} req */
const bodyOf = async (req) => {
  let text = ''
  for await (const part of req) text += part
  return JSON.parse(text)
}
const visited = `with link as (update links set clicks = clicks + 1 where alias = $1 returning id, url)
  insert into visits (link, agent, referrer, address) select id, $2, $3, $4 from link returning (select url from link)`

/** @param {import('node:http').IncomingMessage} req */
const answer = async (req) => {
  const { url = '/', method, headers, socket } = req
  if (method === 'POST') {
    const { url: destination } = await bodyOf(req)
    const alias = Math.random().toString(36).slice(2, 9)
    const { rows } = await pool.query('insert into links (alias, url) values ($1, $2) returning id, alias', [
      alias,
      destination,
    ])
    return rows[0]
  }
  if (url === '/links') return (await pool.query('select * from links order by id desc limit 10')).rows
  const [, id] = /^\/links\/(\d+)$/.exec(url) ?? []
  if (id === undefined) {
    const values = [url.slice(1), headers['user-agent'], headers.referer, socket.remoteAddress]
    const { rows } = await pool.query({ name: 'visit', text: visited, values })
    return { location: rows[0]?.url }
  }
  const [link, ...tops] = await Promise.all([
    pool.query('select * from links where id = $1', [id]),
    ...['agent', 'referrer', "date_trunc('day', at)"].map((label) =>
      pool.query(`select ${label} as label, count(*) from visits where link = $1 group by 1 order by 2 desc limit 10`, [
        id,
      ]),
    ),
  ])
  return { ...link?.rows[0], tops: tops.map(({ rows }) => rows) }
}

const server = createServer((req, res) => {
  void answer(req).then((result) => {
    if ('location' in result) res.writeHead(result.location ? 302 : 404, { Location: result.location ?? '' }).end()
    else res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(result))
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`http://127.0.0.1:${port}`)
})
