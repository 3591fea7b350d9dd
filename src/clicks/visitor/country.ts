import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { BlockList } from 'node:net'
import { Reader } from 'mmdb-lib'
import QuickLRU from 'quick-lru'
import { plainAddress } from '../../lib/address.ts'
import { normalized } from '../../lib/strangers.ts'

export interface Countries {
  /** Returns the ISO 3166-1 alpha-2 code of an IP address, `` when it is unknown. */
  readonly of: (address: string) => string
}

// the combined file, because the `-ipv4` one returns wrong countries for IPv6 addresses
const file = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'

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

const codeIn = (found: unknown): string =>
  typeof found === 'object' && found !== null && 'country_code' in found && typeof found.country_code === 'string'
    ? found.country_code
    : ''

/** The table (15 MB) is in memory once, however often it is opened. */
let table: Reader<object> | undefined
const readTable = () => new Reader<object>(readFileSync(createRequire(import.meta.url).resolve(file)))

/** Loads the country table that is installed with the program into memory. */
export const openCountries = (): Countries => {
  const reader = (table ??= readTable())
  const find = (address: string) => {
    const plain = plainAddress(address)
    return plain === '' || reserved.check(plain, familyOf(plain)) ? '' : codeIn(reader.get(plain))
  }
  // an address is looked up when its visit is answered and again when it is classified, and visitors return
  const found = new QuickLRU<string, string>({ maxSize: 10_000 })
  return {
    of: (address) => {
      const known = found.get(address)
      if (known !== undefined) return known
      const code = find(address)
      if (address.length <= 64) found.set(address, code)
      return code
    },
  }
}

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Returns the English name of a country, `Unknown` for an unknown code. */
export const countryName = (code: string): string =>
  /^[A-Z]{2}$/.test(code) && code !== 'ZZ' ? (names.of(code) ?? 'Unknown') : 'Unknown'

// Common names that differ from the English names in Unicode's data.
const commonNames: Readonly<Record<string, string>> = {
  usa: 'US',
  'united states of america': 'US',
  america: 'US',
  uk: 'GB',
  'great britain': 'GB',
  england: 'GB',
  turkey: 'TR',
  'czech republic': 'CZ',
  'hong kong': 'HK',
  macau: 'MO',
  macao: 'MO',
  burma: 'MM',
  myanmar: 'MM',
  'ivory coast': 'CI',
  'cape verde': 'CV',
  swaziland: 'SZ',
  macedonia: 'MK',
  palestine: 'PS',
  holland: 'NL',
  'russian federation': 'RU',
  'republic of korea': 'KR',
  korea: 'KR',
  congo: 'CG',
  'democratic republic of the congo': 'CD',
  'viet nam': 'VN',
  uae: 'AE',
  vatican: 'VA',
  'bosnia and herzegovina': 'BA',
  'trinidad and tobago': 'TT',
  'antigua and barbuda': 'AG',
  "democratic people's republic of korea": 'KP',
  'islamic republic of iran': 'IR',
  'syrian arab republic': 'SY',
  "lao people's democratic republic": 'LA',
  'republic of moldova': 'MD',
  'united republic of tanzania': 'TZ',
  'plurinational state of bolivia': 'BO',
  'bolivarian republic of venezuela': 'VE',
  'federated states of micronesia': 'FM',
  'province of china taiwan': 'TW',
  'brunei darussalam': 'BN',
}

/**
 * One spelling for names that differ in accents, apostrophes, articles or the order of their parts ("Korea, Republic
 * of").
 */
const plainName = (name: string) =>
  (normalized('country', 'NFKD', name) ?? '')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('’', "'")
    .replaceAll('&', ' and ')
    .toLowerCase()
    .trim()
    .replace(/^([^,]+), ([^,]+)$/, '$2 $1')
    .replace(/^the /, '')
    .replace(/^saint /, 'st. ')
    .replaceAll(/\s+/g, ' ')

const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index))
/** Codes by plain name. ICU is asked when the first name is looked up, not at start: it takes some milliseconds. */
let codes: ReadonlyMap<string, string> | undefined
const codesByName = () => {
  const all = letters.flatMap((first) => letters.map((second) => first + second))
  const named = all.flatMap((given) => {
    const name = countryName(given)
    if (name === 'Unknown') return []
    // one code per country: UK becomes GB, DD becomes DE
    const code = new Intl.Locale(`und-${given}`).region ?? given
    return [[given.toLowerCase(), code] as const, [plainName(name), code] as const]
  })
  return new Map([...named, ...Object.entries(commonNames)])
}

/**
 * Returns the code of a country by its code or a usual English name, in any letter case; undefined when there is no
 * such country.
 */
export const countryCode = (name: string): string | undefined => (codes ??= codesByName()).get(plainName(name))

/** Returns whether a name means the country with this code; false for an unknown country. */
export const isCountry = (name: string, code: string): boolean => code !== '' && countryCode(name) === code
