import type { MemberList } from '../../../http/accounts/contract/member.ts'
import { t } from '../../core/alltexts.ts'
import { useLoad } from '../../core/load.ts'
import { at, go, withQuery } from '../../core/router.ts'
import { ListSearch } from '../../parts/search.tsx'
import { kindNames } from './words.ts'

/** The filters in the address of the page, by their names in the API. */
export const filters = ['q', 'resource', 'deleted', 'member', 'group', 'from', 'to'] as const
/** Filters that only the history of the whole account has. */
export const ofAccount: readonly string[] = ['resource', 'deleted', 'group']
/** With these filters, each event is a separate entry. Without them, the events of one request are one entry. */
export const ofEvents = ['q', 'resource', 'deleted', 'member', 'group'] as const

const set = (name: string, value: string) => go(withQuery({ [name]: value || undefined, page: undefined }))

const kindOptions = () =>
  Object.entries(kindNames())
    // the history of an account includes its keys
    .filter(([kind]) => kind !== 'key')
    .map(([kind, name]) => (
      <option key={kind} value={kind}>
        {name}
      </option>
    ))

/** Filters by member: callers who see the history of the account see its members, too. */
const By = () => {
  const members = useLoad<MemberList>('/api/members?limit=200').data?.data.members ?? []
  const value = at.value.query.get('member') ?? ''
  const named = members.filter(({ name }) => name !== '')
  if (named.length < 2 && value === '') return null
  const isListed = value === '' || named.some(({ id }) => String(id) === value)
  return (
    <label class="switch">
      {t().history.by}
      <select class="input" value={value} onChange={(event) => set('member', event.currentTarget.value)}>
        <option value="">{t().history.anybody}</option>
        {!isListed && <option value={value}>{t().history.someone.former}</option>}
        {named.map(({ id, name }) => (
          <option key={id} value={String(id)}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The filters of the history. */
export const Filters = ({ wholeAccount }: { readonly wholeAccount: boolean }) => {
  const texts = t().history
  const { query } = at.value
  const day = (name: 'from' | 'to') => (
    <label class="switch">
      {texts[name]}
      <input
        class="input"
        type="date"
        value={query.get(name) ?? ''}
        onChange={(event) => set(name, event.currentTarget.value)}
      />
    </label>
  )
  return (
    <div class="history-filters" role="group" aria-label={texts.filter}>
      <ListSearch label={texts.searchFor} />
      {wholeAccount && (
        <>
          <label class="switch">
            {texts.resource}
            <select
              class="input"
              value={query.get('resource') ?? ''}
              onChange={(event) => set('resource', event.currentTarget.value)}
            >
              <option value="">{texts.anything}</option>
              {kindOptions()}
            </select>
          </label>
          <By />
          <label class="switch">
            {texts.show}
            <select
              class="input"
              value={query.get('deleted') ?? ''}
              onChange={(event) => set('deleted', event.currentTarget.value)}
            >
              <option value="">{texts.everything}</option>
              <option value="true">{texts.deletedNow}</option>
            </select>
          </label>
        </>
      )}
      {day('from')}
      {day('to')}
      {filters.some((name) => query.has(name)) && (
        <a
          class="text-button"
          href={withQuery({ ...Object.fromEntries(filters.map((name) => [name, undefined])), page: undefined })}
        >
          {t().filters.clear}
        </a>
      )}
    </div>
  )
}
