import { locale } from './texts.ts'

const nameIn = (type: 'region' | 'language', code: string): string => {
  try {
    return new Intl.DisplayNames(locale(), { type }).of(code) ?? code
  } catch {
    return code
  }
}

/** Returns the name of a country in the language of the page. */
export const countryName = (code: string): string => (/^[A-Z]{2}$/.test(code) ? nameIn('region', code) : code)
/** Returns the name of a language in the language of the page. */
export const languageName = (code: string): string => (/^[a-z]{2,3}$/.test(code) ? nameIn('language', code) : code)
