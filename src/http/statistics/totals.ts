import type { LinkTotals } from '../../queries/statistics/totals.ts'
import type { Count } from '../../queries/statistics/labels.ts'
import type { ClickStats } from '../../queries/statistics/stats.ts'
import { countryName } from '../../clicks/visitor/country.ts'
import { type Network, network } from '../../clicks/visitor/referrer.ts'

/** Returns the ten labels with most clicks, counts as strings. */
const top = <const N>(counts: readonly Count[], none: N, label: (text: string) => string) =>
  counts.length === 0
    ? none
    : Object.fromEntries(counts.slice(0, 10).map(({ label: text, n }) => [label(text), String(n)]))

const socialCount = <S extends Network>(referrers: readonly Count[], networks: readonly S[]) => {
  const counts = new Map<Network | undefined, number>()
  for (const { label, n } of referrers) {
    const site = network(label)
    counts.set(site, (counts.get(site) ?? 0) + n)
  }
  return Object.fromEntries(networks.map((site) => [site, counts.get(site) ?? 0])) as Record<S, number>
}

/** Returns the clicks of the variants of a link, by their ids. */
export const variantCounts = ({ variant }: ClickStats) =>
  top(
    variant.filter(({ label }) => label !== ''),
    0,
    (id) => id,
  )

/** Returns statistics in the form of the API; `none` replaces a top list without data. */
export const statistics = <const N, S extends Network>(stats: ClickStats, none: N, networks: readonly S[]) => {
  const { clicks, uniques, country, referrer, browser, os } = stats
  const or = (unknown: string) => (label: string) => label || unknown
  return {
    clicks,
    uniqueClicks: uniques,
    topCountries: top(country, none, countryName),
    topReferrers: top(referrer, none, or('Direct')),
    topBrowsers: top(browser, none, or('Unknown Browser')),
    topOs: top(os, none, or('Unknown OS')),
    socialCount: socialCount(referrer, networks),
  }
}

/** Returns the totals of several links in the form of the API. */
export const presentTotals = ({ links, clicks, uniques, imported }: LinkTotals) => ({
  links,
  clicks,
  uniqueClicks: uniques,
  ...(imported > 0 && { imported }),
})
