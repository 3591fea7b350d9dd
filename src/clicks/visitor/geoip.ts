import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { BlockList } from 'node:net'
import { Reader } from 'mmdb-lib'
import QuickLRU from 'quick-lru'
import { plainAddress } from '../../lib/address.ts'
import { OperatorError } from '../../lib/operatorerror.ts'

/** The file of a table, in memory that threads share. */
export type CountryFile = Uint8Array<SharedArrayBuffer>

/** A table of the countries of addresses. */
export interface CountryTable {
  readonly file: CountryFile
  /** as its makers call it: `GeoLite2-Country` */
  readonly name: string
  readonly built: Date
  /** Returns the ISO 3166-1 alpha-2 code of a plain public address, `` when the table has none. */
  readonly find: (address: string) => string
}

export interface Countries {
  /** Returns the ISO 3166-1 alpha-2 code of an IP address, `` when it is unknown. */
  readonly of: (address: string) => string
  /** Looks addresses up in this table from now on. */
  readonly use: (table: CountryTable) => void
  /** Calls a listener with each table that is used from now on. */
  readonly onUse: (listener: (table: CountryTable) => void) => void
  readonly table: () => CountryTable
}

// the combined file, because the `-ipv4` one returns wrong countries for IPv6 addresses
const installed = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'

// Addresses without a country. The table has one even for some private addresses: 192.168.1.1 is Australian there.
const reservedRanges = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
  '::/127 fc00::/7 fe80::/10 ff00::/8 2001:db8::/32',
].flatMap((line) => line.split(' '))

const familyOf = (address: string): 'ipv4' | 'ipv6' => (address.includes(':') ? 'ipv6' : 'ipv4')

const reserved = new BlockList()
for (const range of reservedRanges) {
  const [net = '', bits] = range.split('/')
  reserved.addSubnet(net, Number(bits), familyOf(net))
}

const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

/** Returns the country of a record, as MaxMind, DB-IP and IP2Location, IPinfo, or the installed table write it. */
const codeIn = (found: unknown): string => {
  const country = propertyOf(found, 'country')
  const code = propertyOf(country, 'iso_code') ?? propertyOf(found, 'country_code') ?? country
  return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? code : ''
}

/** an address of each block of IPv4 that registries give out */
const samples = Array.from({ length: 223 }, (_, index) => `${index + 1}.1.1.1`)

const inSharedMemory = (bytes: Uint8Array): CountryFile => {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes as CountryFile
  const file = new Uint8Array(new SharedArrayBuffer(bytes.length))
  file.set(bytes)
  return file
}

/**
 * Reads a table in the format of MaxMind DB, version 2 (https://maxmind.github.io/MaxMind-DB/). Throws an
 * `OperatorError` when the file is none, is damaged, or has no countries.
 */
export const readCountryTable = (bytes: Uint8Array): CountryTable => {
  try {
    const file = inSharedMemory(bytes)
    const reader = new Reader<object>(Buffer.from(file.buffer))
    const { databaseType: name, buildEpoch: built, ipVersion } = reader.metadata
    // a table of IPv4 alone returns wrong countries for IPv6
    const find = (address: string) => (ipVersion === 4 && address.includes(':') ? '' : codeIn(reader.get(address)))
    if (samples.some((address) => find(address) !== '')) return { file, name, built, find }
    throw new Error(`${name} has no countries`)
  } catch (error) {
    throw new OperatorError(
      `it must be a database of countries or cities in the format of MaxMind (.mmdb): ${(error as Error).message}`,
    )
  }
}

/** The installed table (8 MB) is in memory once, however often it is opened. */
let shared: CountryTable | undefined
const readInstalled = () => readCountryTable(readFileSync(createRequire(import.meta.url).resolve(installed)))

/** Opens a table, or the one that is installed with the program. */
export const openCountries = (given?: CountryTable): Countries => {
  let table = given
  const current = () => (table ??= shared ??= readInstalled())
  const find = (address: string) => {
    const plain = plainAddress(address)
    if (plain === '' || reserved.check(plain, familyOf(plain))) return ''
    try {
      return current().find(plain)
    } catch {
      // a part of the file is damaged that its check has not seen
      return ''
    }
  }
  // an address is looked up when its visit is answered and again when it is classified, and visitors return
  const found = new QuickLRU<string, string>({ maxSize: 10_000 })
  const listeners: ((table: CountryTable) => void)[] = []
  return {
    of: (address) => {
      const known = found.get(address)
      if (known !== undefined) return known
      const code = find(address)
      if (address.length <= 64) found.set(address, code)
      return code
    },
    use: (next) => {
      table = next
      found.clear()
      for (const listener of listeners) listener(next)
    },
    onUse: (listener) => void listeners.push(listener),
    table: current,
  }
}
