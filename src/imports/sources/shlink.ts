import { problem } from '../../lib/problems/problem.ts'
import { readTime, type Reading } from '../reading.ts'
import type { SourceAddress, SourceLink, SourceRecord, SourceTarget } from '../records.ts'
import { at, listIn, textIn } from './apis.ts'
import type { Ask } from './client.ts'

type Fields = Readonly<Record<string, unknown>>

/** The conditions of rules that have a counterpart here. */
const kinds: Readonly<Record<string, SourceTarget['kind']>> = {
  device: 'device',
  language: 'language',
  'geolocation-country-code': 'location',
}

const queryOf = (row: Fields) => {
  const domain = textIn(row['domain'])
  return domain === '' ? {} : { domain }
}
const pathOf = (row: Fields, part: string) =>
  `rest/v3/short-urls/${encodeURIComponent(textIn(row['shortCode']))}/${part}`

/** Adds the rules of a link: those of one condition are targets, others are left. Servers before 4.0 have none. */
export const withRules = async (link: SourceLink, row: Fields, ask: Ask): Promise<SourceLink> => {
  if (row['hasRedirectRules'] === false) return link
  const answer = await ask(pathOf(row, 'redirect-rules'), queryOf(row), { isOptional: true })
  if (answer === undefined) return link
  const rules = listIn(at(answer, 'redirectRules')).map(({ longUrl, conditions }) => {
    const [condition, ...more] = listIn(conditions)
    const kind = more.length === 0 ? kinds[textIn(condition?.['type'])] : undefined
    return kind ? { kind, name: textIn(condition?.['matchValue']), url: textIn(longUrl) } : undefined
  })
  const targets = rules.filter((rule) => rule !== undefined)
  const left = targets.length < rules.length ? [...(link.left ?? []), 'redirectRules'] : link.left
  return { ...link, ...(targets.length > 0 && { targets }), ...(left && { left }) }
}

/**
 * Reads the visits of a link until now, the newest first. Each is numbered from the oldest on, so that its number stays
 * when others are added.
 */
export const visitsOf = async function* (
  row: Fields,
  { host, alias }: SourceAddress,
  ask: Ask,
  reading: Reading,
): AsyncGenerator<SourceRecord> {
  if (at(row, 'visitsSummary', 'total') === 0 || row['visitsCount'] === 0) return
  const shortUrl = textIn(row['shortUrl'])
  const endDate = new Date().toISOString()
  for (let page = 1, number: number | undefined; ; page++) {
    const query = { ...queryOf(row), endDate, page: String(page), itemsPerPage: '300' }
    const visits = at(await ask(pathOf(row, 'visits'), query, { isOptional: true }), 'visits')
    if (visits === undefined) return
    number ??= Number(at(visits, 'pagination', 'totalItems') ?? 0)
    for (const visit of listIn(at(visits, 'data'))) {
      const time = readTime(visit['date'], '00:00:00', reading)
      const [referrer, userAgent] = [textIn(visit['referer']), textIn(visit['userAgent'])]
      const country = textIn(at(visit, 'visitLocation', 'countryCode'))
      const place = { id: `${shortUrl}#${number--}` }
      if (!time) {
        yield { kind: 'problem', place, problem: problem('wrong_form', { what: 'moment', field: 'date' }) }
        continue
      }
      yield {
        kind: 'visit',
        place,
        host,
        alias,
        at: time,
        ...(referrer !== '' && { referrer }),
        ...(userAgent !== '' && { userAgent }),
        ...(country !== '' && { country }),
      }
    }
    if (page >= Number(at(visits, 'pagination', 'pagesCount') ?? 0)) return
  }
}
