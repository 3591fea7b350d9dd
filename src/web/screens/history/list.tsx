import type { HistoryEntry, HistoryEntryList } from '../../../http/history/contract/history.ts'
import type { MemberList } from '../../../http/accounts/contract/member.ts'
import { csvOf, localCell, saveFile } from '../../core/csv.ts'
import { useLoad } from '../../core/load.ts'
import { past } from '../../core/past.ts'
import { placeOf } from '../../core/places.ts'
import { at, go, href, withQuery } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { moment, zone } from '../../core/time.ts'
import { Pager } from '../../parts/pager.tsx'
import { ListSearch } from '../../parts/search.tsx'
import { Head } from '../../parts/section.tsx'
import { Empty, Failed, Skeleton } from '../../parts/states.tsx'
import { Entry } from './entry.tsx'
import { kindName, kindNames, whatHappened, whoDid } from './words.ts'

const sizes = ['25', '50', '100']
const filters = ['q', 'resource', 'deleted', 'member', 'from', 'to'] as const
/** Filters that only the history of the whole account has. */
const ofAccount: readonly string[] = ['resource', 'deleted']

/** The resource whose history is shown, as the address has it: `url-7`; undefined: the whole account. */
const subjectIn = (query: URLSearchParams) => {
  const [, type, id] = /^([a-z]+)-([1-9]\d{0,14})$/.exec(query.get('of') ?? '') ?? []
  return type === undefined ? undefined : { type, id: Number(id) }
}

const pathOf = (query: URLSearchParams) => {
  const subject = subjectIn(query)
  const wanted = new URLSearchParams({
    limit: query.get('limit') ?? '25',
    page: query.get('page') ?? '1',
    tz: zone.value,
  })
  for (const name of filters) {
    const value = query.get(name)
    if (value && (!subject || !ofAccount.includes(name))) wanted.set(name, value)
  }
  const base = subject ? `/api/${subject.type}/${subject.id}` : '/api/account'
  return `${base}/history?${wanted.toString()}`
}

const set = (name: string, value: string) => go(withQuery({ [name]: value || undefined, page: undefined }))

const kindOptions = () =>
  Object.entries(kindNames())
    // those of an account are in its history
    .filter(([kind]) => kind !== 'key')
    .map(([kind, name]) => (
      <option key={kind} value={kind}>
        {name}
      </option>
    ))

/** Whose changes are shown: whoever sees the history of the account sees its members, too. */
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

/** What of the history is shown. */
const Filters = ({ wholeAccount }: { readonly wholeAccount: boolean }) => {
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

const save = (events: readonly HistoryEntry[]) =>
  saveFile(
    'history.csv',
    csvOf(
      ['event', 'time', 'local', 'what', 'resource', 'id', 'revision', 'who', 'field', 'old', 'new'],
      events.flatMap((entry) => {
        const { event, time, resource, revision, actor, changes } = entry
        const { type, id } = resource
        const row = [event ?? '', time, localCell(time), whatHappened(entry), type, id, revision, whoDid(actor)]
        const cell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
        if (changes.length === 0) return [[...row, '', '', '']]
        return changes.map(({ field, old, new: value }) => [...row, field, cell(old), cell(value)])
      }),
    ),
  )

const placeIn = (n: number, entry: HistoryEntry, isFirstPage: boolean) => {
  const shown = past.value
  if (!shown) return n === 0 && isFirstPage ? 'current' : 'older'
  return moment(entry.time) > shown.time ? 'later' : 'older'
}

/** What happened, and who did it: of a resource, or of everything. Deleted resources are found here, and restored. */
export const HistoryScreen = () => {
  const { query } = at.value
  const subject = subjectIn(query)
  const [path, wholeAccount] = [pathOf(query), subject === undefined]
  // later changes stay in sight in the past
  const list = useLoad<HistoryEntryList>(path, { ofNow: true })
  const texts = t().history
  const events = list.data?.data.events ?? []
  const isFiltered = filters.some((name) => query.has(name))
  const place = subject && placeOf(subject)
  const what = subject && `${kindName(subject.type)} ${subject.id}`
  return (
    <>
      <Head
        title={what === undefined ? texts.title : fill(texts.of, { what })}
        text={list.data ? counted(texts.count, list.data.data.result) : wholeAccount ? texts.lead : '\u00a0'}
      >
        <span class="chips">
          {place !== undefined && (
            <a class="button" href={href(place)}>
              {what}
            </a>
          )}
          {!wholeAccount && (
            <a class="button" href={href('/history')}>
              {texts.all}
            </a>
          )}
          <button class="button" type="button" disabled={events.length === 0} onClick={() => save(events)}>
            {texts.csv}
          </button>
        </span>
      </Head>
      <Filters wholeAccount={wholeAccount} />
      {list.error && <Failed error={list.error} reload={list.reload} />}
      {!list.data && !list.error && <Skeleton rows={8} label={texts.title} />}
      {list.data && events.length === 0 && (
        <Empty
          title={isFiltered ? texts.noMatch : texts.none}
          text={isFiltered ? '' : texts.noneText}
          action={
            isFiltered && (
              <a class="button" href={href('/history')}>
                {t().filters.clear}
              </a>
            )
          }
        />
      )}
      <ol class="event-list long">
        {events.map((entry, n) => (
          <Entry
            key={`${entry.event} ${entry.resource.type} ${entry.resource.id} ${entry.revision}`}
            entry={entry}
            place={placeIn(n, entry, (query.get('page') ?? '1') === '1')}
            named={wholeAccount}
          />
        ))}
      </ol>
      {list.data && <Pager page={list.data.data} sizes={sizes} />}
    </>
  )
}
