/** A link as a peer has created it. `path` is what visitors ask for. */
export interface PeerLink {
  readonly id: string
  readonly path: string
}

/** What a shortener can be asked by HTTP. Each function rejects when the answer is not the one that was expected. */
export interface Peer {
  readonly name: string
  readonly address: string
  readonly create: (url: string) => Promise<PeerLink>
  /** the newest ten links */
  readonly list: () => Promise<unknown>
  /** the statistics of a link, as its page in the product shows them; resolves with the number of visits */
  readonly visits: (link: PeerLink) => Promise<number>
}

type Json = Readonly<Record<string, unknown>>

/** Returns a function that asks a peer and rejects unless the status is 2xx. */
const asker =
  (address: string, headers: Readonly<Record<string, string>>) =>
  async (path: string, body?: Json): Promise<Json> => {
    const init = body
      ? { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
      : { headers }
    const response = await fetch(address + path, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} responded ${response.status}: ${text.slice(0, 200)}`)
    return JSON.parse(text) as Json
  }

const pathOf = (url: unknown) => new URL(String(url)).pathname
const partOf = (json: Json, name: string) => (json[name] ?? {}) as Json

export const linkledger = (address: string, key: string): Peer => {
  const ask = asker(address, { authorization: `Bearer ${key}` })
  return {
    name: 'Linkledger',
    address,
    create: async (url) => {
      const { id, shorturl } = await ask('/api/url/add', { url })
      return { id: String(id), path: pathOf(shorturl) }
    },
    list: () => ask('/api/urls?limit=10'),
    visits: async ({ id }) => Number(partOf(await ask(`/api/url/${id}`), 'data')['clicks']),
  }
}

export const plain = (address: string): Peer => {
  const ask = asker(address, {})
  return {
    name: 'plain rows',
    address,
    create: async (url) => {
      const { id, alias } = await ask('/', { url })
      return { id: String(id), path: `/${String(alias)}` }
    },
    list: () => ask('/links'),
    visits: async ({ id }) => Number((await ask(`/links/${id}`))['clicks']),
  }
}

/** Kutt 3 (https://docs.kutt.it): the key of an account from its settings page. */
const kutt = (address: string, key: string): Peer => {
  const ask = asker(address, { 'x-api-key': key })
  return {
    name: 'Kutt',
    address,
    create: async (target) => {
      const { id, address: alias } = await ask('/api/v2/links', { target })
      return { id: String(id), path: `/${String(alias)}` }
    },
    list: () => ask('/api/v2/links?limit=10'),
    visits: async ({ id }) => Number(partOf(await ask(`/api/v2/links/${id}/stats`), 'allTime')['total'] ?? 0),
  }
}

/** Shlink 4 (https://api-spec.shlink.io): a key from `shlink api-key:generate`. */
const shlink = (address: string, key: string): Peer => {
  const ask = asker(address, { 'x-api-key': key })
  return {
    name: 'Shlink',
    address,
    create: async (longUrl) => {
      const { shortCode, shortUrl } = await ask('/rest/v3/short-urls', { longUrl })
      return { id: String(shortCode), path: pathOf(shortUrl) }
    },
    list: () => ask('/rest/v3/short-urls?itemsPerPage=10'),
    // its client reads all visits and counts them itself; one page is what it begins with
    visits: async ({ id }) => {
      const { visits } = await ask(`/rest/v3/short-urls/${id}/visits?itemsPerPage=5000`)
      return Number(partOf(visits as Json, 'pagination')['totalItems'])
    },
  }
}

/** YOURLS 1.9 (https://yourls.org/docs/guide/advanced/api): the signature token from its tools page. */
const yourls = (address: string, key: string): Peer => {
  const ask = asker(address, {})
  const action = (name: string, query: Readonly<Record<string, string>>) =>
    ask(`/yourls-api.php?${new URLSearchParams({ signature: key, format: 'json', action: name, ...query }).toString()}`)
  return {
    name: 'YOURLS',
    address,
    create: async (url) => {
      const { shorturl } = await action('shorturl', { url })
      return { id: pathOf(shorturl).slice(1), path: pathOf(shorturl) }
    },
    list: () => action('stats', { filter: 'last', limit: '10' }),
    visits: async ({ id }) => Number(partOf(await action('url-stats', { shorturl: id }), 'link')['clicks']),
  }
}

/** Services that run elsewhere, by the name in PEER. */
export const drivers: Readonly<Record<string, (address: string, key: string) => Peer>> = { kutt, shlink, yourls }
