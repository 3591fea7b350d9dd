import type { HistoryEntry, HistoryEntryList } from '../../../http/history/contract/history.ts'
import { csvOf, localCell, saveFile } from '../../core/csv.ts'
import { useLoad } from '../../core/load.ts'
import { past } from '../../core/past.ts'
import { placeOf } from '../../core/places.ts'
import { at, href } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { moment, zone } from '../../core/time.ts'
import { Pager } from '../../parts/pager.tsx'
import { Head } from '../../parts/section.tsx'
import { Empty, Failed, Skeleton } from '../../parts/states.tsx'
import { Entry } from './entry.tsx'
import { Filters, filters, ofAccount, ofEvents } from './filters.tsx'
import { kindName, whatHappened, whoDid } from './words.ts'

const sizes = ['25', '50', '100']
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
  if (!subject && !ofEvents.some((name) => query.get(name))) wanted.set('group', 'request')
  const base = subject ? `/api/${subject.type}/${subject.id}` : '/api/account'
  return `${base}/history?${wanted.toString()}`
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
