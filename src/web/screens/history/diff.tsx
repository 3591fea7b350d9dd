import { useState } from 'preact/hooks'
import type { Restored } from '../../../http/history/contract/history.ts'
import { t } from '../../core/alltexts.ts'
import { counted, figure } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { Erased } from '../../parts/erased.tsx'
import { When } from '../../parts/when.tsx'
import { fieldName } from './words.ts'

/**
 * What a field was or is, line by line; a set has a line for each member, so that only those that came or went are
 * shown.
 */
type Lines = readonly string[]
/** A change as histories have it, or as a restore would make it. */
type Change = Restored['changes'][number]

const unreadable = 'unreadable'
const secrets = new Set(['password', 'logo'])
/** fields that are times: in others, a text that looks like one is the owner's */
const times = new Set(['starts', 'expiry', 'expires', 'erases'])
const isTime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/
/** fields that are shown at first when something is created */
const mostShown = 4

const plain = (value: unknown): string => {
  const { yes, no } = t().history
  if (value === true) return yes
  if (value === false) return no
  if (typeof value === 'number') return figure(value, 2)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns an entry of a list: a variant, a parameter, an entry of a page. */
const entryLine = (entry: unknown): string => {
  if (typeof entry !== 'object' || entry === null) return plain(entry)
  const { name, value, url, weight, text, link } = entry as Readonly<Record<string, unknown>>
  const parts = [name ?? text, value ?? url ?? link, weight].filter((part) => part !== undefined && part !== '')
  return parts.length > 0 ? parts.map(plain).join(' · ') : JSON.stringify(entry)
}

const linesOf = (value: unknown): Lines => {
  if (value === null || value === undefined || value === '') return []
  if (Array.isArray(value)) return value.map(entryLine)
  if (typeof value !== 'object') return [plain(value)]
  return Object.entries(value)
    .filter(([, one]) => one !== '' && one !== null)
    .map(([name, one]) => `${name}: ${plain(one)}`)
}

const isEmpty = ({ old, new: value }: Change) =>
  linesOf(old).length === 0 && (linesOf(value).length === 0 || value === false || value === 0)

const Secret = ({ change: { old, new: value } }: { readonly change: Change }) => {
  const { set, removed, changedSecret } = t().history
  if (old === true && value === true) return <ins>{changedSecret}</ins>
  return value === true ? <ins>{set}</ins> : <del>{removed}</del>
}

interface LineProps {
  readonly field: string
  readonly text: string
  readonly added: boolean
}

const Line = ({ field, text, added }: LineProps) => {
  const time = times.has(field) && isTime.test(text) ? <When at={moment(text)} /> : undefined
  const content = text === unreadable ? <Erased /> : (time ?? <bdi>{text}</bdi>)
  return added ? <ins>{content}</ins> : <del>{content}</del>
}

const Field = ({ change }: { readonly change: Change }) => {
  const { field, old, new: value } = change
  const [before, after] = [linesOf(old), linesOf(value)]
  const gone = before.filter((line) => !after.includes(line))
  const came = after.filter((line) => !before.includes(line))
  const isSecret = secrets.has(field) && (typeof old === 'boolean' || typeof value === 'boolean')
  return (
    <>
      <dt>{fieldName(field)}</dt>
      <dd>
        {isSecret && <Secret change={change} />}
        {!isSecret && gone.map((line) => <Line key={`- ${line}`} field={field} text={line} added={false} />)}
        {!isSecret && came.map((line) => <Line key={`+ ${line}`} field={field} text={line} added />)}
        {!isSecret && came.length === 0 && after.length === 0 && (
          <ins>
            <span class="quiet">{t().history.empty}</span>
          </ins>
        )}
      </dd>
    </>
  )
}

/** What each field was and is: removed lines with a minus, added ones with a plus. */
export const Diff = ({ changes }: { readonly changes: readonly Change[] }) => {
  const [all, setAll] = useState(false)
  const told = changes.filter((change) => !isEmpty(change))
  if (told.length === 0) return null
  const shown = all || told.length <= mostShown + 1 ? told : told.slice(0, mostShown)
  const rest = told.length - shown.length
  return (
    <>
      <dl class="diff">
        {shown.map((change) => (
          <Field key={change.field} change={change} />
        ))}
      </dl>
      {rest > 0 && (
        <button class="text-button small" type="button" onClick={() => setAll(true)}>
          {counted(t().history.more, rest)}
        </button>
      )}
    </>
  )
}
