// npm run countries: how far tables of countries agree, on 10,000 addresses that are announced, 2,000 of each registry, half of them IPv6.
// It installs the tables in .cache/countries; that of the registries' delegated files needs Python 3.10.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCountryTable } from '../src/clicks/visitor/geoip.ts'
import { randomFrom } from '../test/support/faults.ts'

const folder = new URL('../.cache/countries/', import.meta.url).pathname
const names = ['geo-whois-asn-country', 'dbip-country', 'iptoasn-country', 'geolite2-country']
const registries = ['AFRINIC', 'APNIC', 'ARIN', 'LACNIC', 'RIPE'] as const
type Registry = (typeof registries)[number]
type Find = (address: string) => string

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
// https://www.iana.org/assignments/ipv4-address-space: the first byte of what each registry gives out; ARIN has the rest
const firstBytes: Readonly<Record<Exclude<Registry, 'ARIN'>, readonly number[]>> = {
  AFRINIC: [41, 102, 105, 154, 196, 197],
  APNIC: [
    1,
    14,
    27,
    36,
    39,
    42,
    43,
    49,
    ...range(58, 61),
    101,
    103,
    106,
    ...range(110, 126),
    133,
    150,
    153,
    163,
    171,
  ].concat([175, 180, 182, 183, 202, 203, 210, 211], range(218, 223)),
  LACNIC: [177, 179, 181, 186, 187, 189, 190, 191, 200, 201],
  RIPE: [
    2,
    5,
    31,
    37,
    46,
    51,
    57,
    62,
    ...range(77, 95),
    109,
    141,
    145,
    151,
    176,
    178,
    185,
    188,
    193,
    194,
    195,
    212,
    213,
    217,
  ],
}
const registryOf = (byte: number): Registry =>
  registries.find((one) => one !== 'ARIN' && firstBytes[one].includes(byte)) ?? 'ARIN'
// https://www.iana.org/assignments/ipv6-unicast-address-assignments: the first 16 bits
const firstGroups: Readonly<Record<Registry, number>> = {
  AFRINIC: 0x2c00,
  APNIC: 0x2400,
  ARIN: 0x2600,
  LACNIC: 0x2800,
  RIPE: 0x2a00,
}

const openTables = (): Record<string, Find> => {
  mkdirSync(folder, { recursive: true })
  const packages = names.map((name) => `@ip-location-db/${name}-mmdb`)
  execFileSync(
    'npm',
    ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', ...packages],
    { stdio: 'inherit' },
  )
  return Object.fromEntries(
    names.map((name, at) => [
      name,
      readCountryTable(readFileSync(join(folder, 'node_modules', packages[at]!, `${name}.mmdb`))).find,
    ]),
  )
}

/** Draws addresses that are announced: every address of IPv4 alike, one of each /32 of IPv6. */
const draw = (announced: Find) => {
  const below = randomFrom(12_345)
  const sample = new Map<string, Set<string>>(
    registries.flatMap((one) => [
      [`${one} 4`, new Set()],
      [`${one} 6`, new Set()],
    ]),
  )
  const weights = new Map<Registry, number>()
  for (let n = 0; n < 500_000; n++) {
    const address = [1 + below(223), below(256), below(256), below(256)]
    const text = address.join('.')
    if (announced(text) === '') continue
    const registry = registryOf(address[0]!)
    weights.set(registry, (weights.get(registry) ?? 0) + 1)
    const found = sample.get(`${registry} 4`)!
    if (found.size < 1000) found.add(text)
  }
  for (const registry of registries) {
    const found = new Map<number, string>()
    for (let n = 0; n < 6_000_000 && found.size < 1000; n++) {
      const [low, second, third] = [below(registry === 'RIPE' ? 32 : 16), below(65_536), below(65_536)]
      const text = `${(firstGroups[registry] + low).toString(16)}:${second.toString(16)}:${third.toString(16)}::1`
      if (announced(text) !== '') found.set(low * 65_536 + second, text)
    }
    sample.set(`${registry} 6`, new Set(found.values()))
  }
  return { sample, weights }
}

/** Returns the countries of the registries' files, or nothing where Python is not there. */
const delegated = (addresses: readonly string[]): ReadonlyMap<string, string> | undefined => {
  try {
    const python = join(folder, 'python')
    execFileSync('python3', ['-m', 'pip', 'install', '--quiet', '--target', python, 'iptocc'])
    const program = 'import iptocc, sys\nfor line in sys.stdin: print(iptocc.country_code(line.strip()) or "")'
    const out = execFileSync('python3', ['-c', program], {
      input: addresses.join('\n'),
      env: { ...process.env, PYTHONPATH: python },
    })
    const codes = out.toString().split('\n')
    return new Map(addresses.map((address, at) => [address, codes[at] ?? '']))
  } catch (error) {
    console.log(`The registries' files are left out: ${String(error)}`)
    return undefined
  }
}

const tables = openTables()
const { sample, weights } = draw(tables['iptoasn-country']!)
const registered = delegated([...sample.values()].flatMap((all) => [...all]))
if (registered) tables['delegated files'] = (address) => registered.get(address) ?? ''
const total = [...weights.values()].reduce((sum, one) => sum + one)
for (const family of [4, 6]) {
  console.log(
    `\n| IPv${family} | ${Object.keys(tables).join(' | ')} |\n|---|${'---:|'.repeat(Object.keys(tables).length)}`,
  )
  for (const [name, one] of Object.entries(tables)) {
    const cells = Object.values(tables).map((other) => {
      const agreement = registries.map((registry) => {
        const all = [...sample.get(`${registry} ${family}`)!]
        return (
          (all.filter((address) => one(address) === other(address)).length / all.length) *
          ((weights.get(registry) ?? 0) / total)
        )
      })
      return `${(100 * agreement.reduce((sum, share) => sum + share)).toFixed(1)} %`
    })
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
}
