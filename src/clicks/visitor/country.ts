import { normalized } from '../../lib/strangers.ts'

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
