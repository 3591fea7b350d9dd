import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { HistoryEntry } from '../../../http/history/contract/history.ts'
import { afterEvent } from '../../core/past.ts'
import { placeOf } from '../../core/places.ts'
import { href } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { saveReceipt } from '../proof/receipt.ts'
import { Diff } from './diff.tsx'
import { RestoreDialog } from './restore.tsx'
import { isDeletion, isRestorable, kindName, nameOfMember, whatHappened, whoDid } from './words.ts'
import { When } from '../../parts/when.tsx'

interface EntryProps {
  readonly entry: HistoryEntry
  /** whether it is the newest, the one that is shown in the past, or after that */
  readonly place: 'current' | 'older' | 'here' | 'later'
  /** whether to name the resource: not in its own history */
  readonly named: boolean
  readonly children?: ComponentChildren
}

const Resource = ({ entry }: { readonly entry: HistoryEntry }) => {
  const { type, id } = entry.resource
  // there is nothing at the place of what is deleted
  const to = isDeletion(entry) ? undefined : placeOf(entry.resource)
  const name = `${kindName(type)} ${id}`
  if (id === 0) return <>{kindName(type)}</>
  const history = href('/history', { of: `${type}-${id}` })
  return <a href={to === undefined ? history : href(to)}>{name}</a>
}

const Who = ({ actor }: { readonly actor: HistoryEntry['actor'] }) => {
  const who = <bdi>{whoDid(actor)}</bdi>
  return actor.member ? <a href={href(`/members/${actor.member.id}`)}>{who}</a> : who
}

/** What can be done with an entry: see everything as it was then, take it back, keep the proof of it. */
const Tools = ({ entry, isLast }: { readonly entry: HistoryEntry; readonly isLast: boolean }) => {
  const [restoring, setRestoring] = useState(false)
  const texts = t().history
  const { event, time } = entry
  const isBack = isDeletion(entry)
  return (
    <p class="do">
      {isRestorable(entry) && (!isLast || isBack) && (
        <button class="text-button" type="button" onClick={() => setRestoring(true)}>
          {isBack ? texts.restore : texts.restoreThis}
        </button>
      )}
      {event !== null && (
        <>
          <a class="text-button" href={afterEvent(event, moment(time))}>
            {texts.view}
          </a>
          <button
            class="text-button"
            type="button"
            aria-label={fill(texts.receiptOf, { event })}
            onClick={() => void saveReceipt('events', String(event))}
          >
            {texts.receipt}
          </button>
        </>
      )}
      {restoring && <RestoreDialog entry={entry} onClose={() => setRestoring(false)} />}
    </p>
  )
}

/** One change: the event, its time and author, the old and new values, and the possible actions. */
export const Entry = ({ entry, place, named, children }: EntryProps) => {
  const texts = t().history
  const when = moment(entry.time)
  const isLater = place === 'later'
  return (
    <li class={place === 'older' ? undefined : place}>
      <div class="inner">
        <div class="when">
          <strong>{whatHappened(entry)}</strong>
          <When at={when} as="shortDayAndClock" />
        </div>
        <p class="who">
          <Who actor={entry.actor} />
          {entry.actor.approved_by && (
            <a href={href(`/approvals/${entry.actor.approved_by.proposal}`)}>
              {' · '}
              {fill(texts.approvedBy, { name: nameOfMember(entry.actor.approved_by) })}
            </a>
          )}
          {' · '}
          {named && <Resource entry={entry} />}
          {named && ' · '}
          {isLater ? texts.later : fill(texts.revision, { n: entry.revision })}
        </p>
        {entry.type === 'AccountErased' && <p class="erased">{texts.erasedText}</p>}
        {!isLater && <Diff changes={entry.changes} />}
        {entry.group && entry.events !== undefined && entry.events > 1 && (
          <p>
            <a href={href('/history', { group: entry.group })}>{counted(texts.moreLike, entry.events - 1)}</a>
          </p>
        )}
        {!isLater && children}
        {!isLater && <Tools entry={entry} isLast={place === 'current' && !named} />}
      </div>
    </li>
  )
}
