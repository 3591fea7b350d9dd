/** What a table has for the addresses that begin with these bits: `'0'` and `'1'` are the halves of all addresses. */
export type Records = Readonly<Record<string, object>>
type Node = { [bit in '0' | '1']?: Node | { readonly record: object } }

const control = (type: number, size: number): Buffer =>
  type > 7 ? Buffer.from([size, type - 7]) : Buffer.from([(type << 5) | size])

/** Encodes a value of fewer than 29 bytes or entries. */
const encode = (value: unknown): Buffer => {
  if (typeof value === 'string') return Buffer.concat([control(2, value.length), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([control(6, 4), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)])
  const entries = Object.entries(value as object)
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, of]) => [encode(key), encode(of)])])
}

const treeOf = (records: Records): Node => {
  const root: Node = {}
  for (const [bits, record] of Object.entries(records)) {
    let node = root
    for (const bit of bits.slice(0, -1) as Iterable<'0' | '1'>) node = (node[bit] ??= {}) as Node
    node[bits.at(-1) as '0' | '1'] = { record }
  }
  return root
}

/**
 * Makes a file in the format of MaxMind DB, version 2 (https://maxmind.github.io/MaxMind-DB/), with records of 24 bits.
 * `built` is in seconds since 1970.
 */
export const makeTable = (type: string, ipVersion: 4 | 6, records: Records, built = 1_700_000_000): Buffer => {
  const nodes = [treeOf(records)]
  for (const node of nodes)
    for (const bit of ['0', '1'] as const) {
      const next = node[bit]
      if (next && !('record' in next)) nodes.push(next)
    }
  const tree = Buffer.alloc(nodes.length * 6)
  const data: Buffer[] = []
  let size = 0
  nodes.forEach((node, at) => {
    for (const bit of ['0', '1'] as const) {
      const next = node[bit]
      let value = nodes.length
      if (next && 'record' in next) {
        value = nodes.length + 16 + size
        data.push(encode(next.record))
        size += data.at(-1)!.length
      } else if (next) value = nodes.indexOf(next)
      tree.writeUIntBE(value, at * 6 + Number(bit) * 3, 3)
    }
  })
  const metadata = {
    node_count: nodes.length,
    record_size: 24,
    ip_version: ipVersion,
    database_type: type,
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: built,
    description: {},
  }
  const marker = Buffer.from([0xab, 0xcd, 0xef, ...Buffer.from('MaxMind.com')])
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, encode(metadata)])
}
