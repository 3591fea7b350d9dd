import { useState } from 'preact/hooks'
import type { DomainList } from '../../../http/domains/contract.ts'
import type { FoundLink } from '../../../http/links/contract/link.ts'
import type { Miss, MissList } from '../../../http/statistics/contract/misses.ts'
import { get, request } from '../../core/api.ts'
import { useLoad } from '../../core/load.ts'
import { go, href, withQuery } from '../../core/router.ts'
import { service } from '../../core/session.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { fieldOf, utcDay, zone } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button, WriteLink } from '../../parts/button.tsx'
import { Listing, Named, useList } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Head } from '../../parts/section.tsx'
import { blank, bodyOf, copyOf } from './editor/draft.ts'

const days = 30
const firstDay = () => fieldOf(new Date(Date.now() - (days - 1) * 86_400_000)).slice(0, 10)
/** Whether a link can be made at a path. `exact`: hosts of domains with exact aliases, where it is one as a whole. */
const isAlias = ({ host, path }: Miss, exact: readonly string[]) =>
  exact.includes(host) ? /^(?:\/[^/]+)+$/.test(path) : /^\/[a-z0-9][a-z0-9_-]{0,63}$/.test(path)
/** How a form of a link names the domain of a host. */
const domainOf = (host: string) => (host === new URL(service.baseUrl).host ? '' : host)
/** Returns the address of the form of a new link at an address, which may begin as a copy. */
const newAt = (path: string, host: string, like: number | null) =>
  withQuery({ sheet: 'new', alias: path.slice(1), on: domainOf(host) || undefined, like: like?.toString() })

/**
 * Copies the link that was meant to the address. One with a limit that no copy can share is shown in the form first: a
 * password, a maximum of clicks, an end that has come.
 */
const makeLink = async ({ host, path, suggested }: Miss) => {
  const { details } = await get<FoundLink>(`/api/url/${suggested}`)
  const address = { custom: path.slice(1), domain: domainOf(host) }
  if (details.password || details.max_clicks !== null || details.status === 'expired')
    return go(newAt(path, host, suggested))
  await request('POST', '/api/url/add', bodyOf(copyOf(details, service.baseUrl, address), blank))
  say(fill(t().misses.made, { path, to: details.longurl, link: details.alias }))
}

/** What can be done about an address, with one click. */
const Action = ({ row, exact }: { readonly row: Miss; readonly exact: readonly string[] }) => {
  const [busy, setBusy] = useState(false)
  const { host, path, kind, link, suggested } = row
  const texts = t().misses
  const canBeMade = isAlias(row, exact)
  if (link !== null || (suggested !== null && !canBeMade))
    return (
      <a class="button" href={href(`/links/${link ?? suggested}`)}>
        {texts.open}
      </a>
    )
  if (kind !== 'unknown' || !canBeMade) return null
  const make = () => {
    setBusy(true)
    void makeLink(row)
      .catch(sayProblem)
      .finally(() => setBusy(false))
  }
  return suggested === null ? (
    <WriteLink href={newAt(path, host, null)}>{texts.create}</WriteLink>
  ) : (
    <Button busy={busy} writes onClick={make}>
      {fill(texts.make, { path })}
    </Button>
  )
}

const Address = ({ host, path, kind, suggestion }: Miss) => {
  const texts = t().misses
  return (
    <>
      <Named name={path === 'other' ? texts.others : path} note={host} />
      {suggestion !== null && <span class="note">{fill(texts.meant, { path: suggestion })}</span>}
      {kind !== 'unknown' && <Mark kind={kind === 'blocked' ? 'locked' : 'off'}>{texts.kinds[kind]}</Mark>}
    </>
  )
}

const Times = ({ count, people }: Miss) => {
  const texts = t().misses
  return (
    <>
      {counted(texts.times, people)}
      {count > people && <span class="note">{counted(texts.programs, count - people)}</span>}
    </>
  )
}

/** The addresses that lead nowhere, the most requested first. */
export const MissListing = ({ path }: { readonly path: string }) => {
  const { list, rows } = useList<MissList>(path, 'misses', {
    group: 'address',
    order: 'click',
    from: firstDay(),
    tz: zone.value,
  })
  const domains = useLoad<DomainList>('/api/domains?limit=1000').data?.data.domains ?? []
  const exact = domains.flatMap(({ domain, aliases }) => (aliases === 'exact' ? [new URL(domain).host] : []))
  const texts = t().misses
  return (
    <Listing
      title={texts.title}
      list={list}
      rows={rows}
      keyOf={(row) => [row.host, row.path, row.kind].join(' ')}
      searchFor={texts.searchFor}
      none={{ title: texts.none, text: texts.noneText }}
      columns={[
        { name: texts.address, cell: (row) => <Address {...row} /> },
        { name: texts.asked, cell: (row) => <Times {...row} /> },
        { name: texts.last, kind: 'wide', cell: ({ date }) => utcDay(new Date(date)) },
      ]}
      tools={(row) => <Action row={row} exact={exact} />}
    />
  )
}

/** Addresses that visitors requested and that lead nowhere, in the last days. */
export const Misses = () => {
  const texts = t().misses
  return (
    <>
      <Head title={texts.title} text={fill(texts.lead, { days })} />
      <MissListing path="/api/misses" />
    </>
  )
}
