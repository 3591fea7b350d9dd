import { useEffect, useState } from 'preact/hooks'
import { withoutScheme } from '../../core/address.ts'
import type { MemberList } from '../../../http/accounts/contract/member.ts'
import type { DomainList } from '../../../http/domains/contract.ts'
import type { CampaignList } from '../../../http/links/contract/campaign.ts'
import type { ChannelList } from '../../../http/links/contract/channel.ts'
import type { TagList } from '../../../http/links/contract/tag.ts'
import { useLoad } from '../../core/load.ts'
import { at, go, href, withQuery } from '../../core/router.ts'
import { service } from '../../core/session.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { Icon } from '../../parts/icon.tsx'

type FilterName = 'tag' | 'campaign' | 'channel' | 'domain' | 'made_by' | 'archived'
const names: readonly FilterName[] = ['tag', 'campaign', 'channel', 'domain', 'made_by', 'archived']
type Options = Readonly<Record<FilterName, readonly (readonly [value: string, label: string])[]>>

/** ms after the last letter until a search begins */
const pause = 250

/** Returns the options of each filter. Loads the lists only when the user opens the menu, or has set a filter. */
const useOptions = (isNeeded: boolean): Options => {
  const path = (one: string) => (isNeeded ? `${one}?limit=200` : undefined)
  const tags = useLoad<TagList>(path('/api/tags'))
  const campaigns = useLoad<CampaignList>(path('/api/campaigns'))
  const channels = useLoad<ChannelList>(path('/api/channels'))
  const domains = useLoad<DomainList>(path('/api/domains'))
  // only some roles see the list: others have no choice
  const members = useLoad<MemberList>(path('/api/members'))
  const named = (rows: readonly { readonly id: number; readonly name: string }[] | undefined) =>
    (rows ?? []).map(({ id, name }) => [String(id), name] as const)
  const own = (domains.data?.data.domains ?? []).map(({ domain }) => [domain, withoutScheme(domain)] as const)
  return {
    tag: (tags.data?.data.tags ?? []).map(({ tag }) => [tag, `#${tag}`] as const),
    campaign: named(campaigns.data?.data.campaigns),
    channel: named(channels.data?.data.channels),
    domain: own.length === 0 ? [] : [[service.baseUrl, withoutScheme(service.baseUrl)], ...own],
    made_by: named(members.data?.data.members.filter(({ name }) => name !== '')),
    archived: [
      ['true', t().links.archivedOnly],
      ['all', t().links.archivedToo],
    ],
  }
}

const SearchField = () => {
  const given = at.value.query.get('q') ?? ''
  const [text, setText] = useState(given)
  useEffect(() => setText(given), [given])
  useEffect(() => {
    if (text === given) return undefined
    const timer = setTimeout(() => go(withQuery({ q: text.trim(), page: undefined }), { replace: true }), pause)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <form class="search" role="search" aria-label={t().links.title} onSubmit={(event) => event.preventDefault()}>
      <label class="visually-hidden" for="q">
        {t().nav.search}
      </label>
      <Icon name="search" />
      <input
        class="input"
        id="q"
        type="search"
        placeholder={t().links.searchFor}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  )
}

const AddFilter = ({ options, onOpen }: { readonly options: Options; readonly onOpen: () => void }) => {
  const texts = t().links
  const left = names.filter((name) => !at.value.query.has(name) && options[name].length > 0)
  return (
    <select
      class="chip add"
      aria-label={t().filters.add}
      value=""
      onFocus={onOpen}
      onPointerDown={onOpen}
      onChange={(event) => {
        const [name = '', ...value] = event.currentTarget.value.split('=')
        go(withQuery({ [name]: value.join('='), page: undefined }))
      }}
    >
      <option value="">{t().filters.add}</option>
      {left.map((name) => (
        <optgroup key={name} label={texts.filters[name]}>
          {options[name].map(([value, label]) => (
            <option key={value} value={`${name}=${value}`}>
              {label}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  )
}

/** Search, and filters as chips. The address has all of it. */
export const Filters = () => {
  const { query } = at.value
  const texts = t().links
  const set = names.filter((name) => query.has(name))
  const [isOpen, setIsOpen] = useState(false)
  const options = useOptions(isOpen || set.length > 0)
  const labelOf = (name: FilterName) => {
    const value = query.get(name) ?? ''
    return options[name].find(([one]) => one === value)?.[1] ?? value
  }
  return (
    <div class="toolbar">
      <SearchField />
      <div class="chips">
        {set.map((name) => (
          <span key={name} class="chip">
            {texts.filters[name]}
            <b dir="auto">{labelOf(name)}</b>
            <button
              type="button"
              aria-label={fill(t().filters.remove, { name: texts.filters[name], value: labelOf(name) })}
              onClick={() => go(withQuery({ [name]: undefined, page: undefined }))}
            >
              <Icon name="close" />
            </button>
          </span>
        ))}
        <AddFilter options={options} onOpen={() => setIsOpen(true)} />
        {(set.length > 0 || query.has('q')) && (
          <a class="text-button small" href={href('/links')}>
            {t().filters.clear}
          </a>
        )}
      </div>
    </div>
  )
}
