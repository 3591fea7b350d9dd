import { useState } from 'preact/hooks'
import type { FoundImport } from '../../../http/imports/contract.ts'
import { asChosen } from '../../core/acting.ts'
import { request } from '../../core/api.ts'
import { t } from '../../core/alltexts.ts'
import { counted, figure, fill, textFor } from '../../core/texts.ts'
import { sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Problem } from '../../parts/field.tsx'
import { Mark, type MarkKind } from '../../parts/mark.tsx'
import { Section } from '../../parts/section.tsx'

type Details = FoundImport['details']

/** Whether the service works on an import. */
export const isActive = (state: string) => ['checking', 'running', 'undoing'].includes(state)
const marks: Readonly<Record<string, MarkKind>> = {
  ...{ checking: 'wait', running: 'wait', undoing: 'wait', interrupted: 'wait' },
  ...{ checked: 'off', done: 'good', failed: 'bad', undone: 'ended' },
}

export const State = ({ state }: { readonly state: string }) => (
  <Mark kind={marks[state] ?? 'ended'}>{textFor(t().imports.states, state) ?? state}</Mark>
)

const numbers = ['created', 'renamed', 'existing', 'conflicts', 'skipped', 'failed', 'kept'] as const

const Lines = ({ notes }: Pick<Details, 'notes'>) => {
  const texts = t().imports
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={texts.lines}>
      <table class="figures">
        <caption class="visually-hidden">{texts.lines}</caption>
        <thead>
          <tr>
            {[texts.place, texts.alias, texts.outcome, texts.message].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {notes.map(({ place, alias, url, outcome, message, left }, n) => (
            <tr key={n}>
              <th scope="row">
                <bdi>{place}</bdi>
              </th>
              <td>
                <bdi>{alias || url}</bdi>
              </td>
              <td>{textFor(texts.outcomes, outcome) ?? outcome}</td>
              <td>
                {message}
                {left.length > 0 && ` ${fill(texts.left, { fields: left.join(', ') })}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What has become of a file, and what can be done with it next. */
export const Outcome = ({ details, onNext }: { readonly details: Details; readonly onNext: () => void }) => {
  const [busy, setBusy] = useState(false)
  const { id, state, format, name, total, done, notes, problem } = details
  const texts = t().imports
  const ask = (method: 'POST' | 'DELETE', path: string) => {
    setBusy(true)
    void request(method, `/api/import/${id}${path}`, method === 'POST' ? {} : undefined)
      .then(onNext, sayProblem)
      .finally(() => setBusy(false))
  }
  const shown = numbers.filter((one) => details[one] > 0)
  return (
    <Section title={name || format} tools={<State state={state} />}>
      <div class="stack-4">
        {isActive(state) && (
          <p>
            <progress max={total ?? undefined} value={total === null ? undefined : done} aria-label={texts.title} />{' '}
            {total !== null && fill(texts.progress, { done: figure(done), total: figure(total) })}
          </p>
        )}
        {problem && <Problem>{problem.message}</Problem>}
        <ul>
          {shown.map((one) => (
            <li key={one}>
              {counted(texts[state === 'checked' && one === 'created' ? 'wouldCreate' : one], details[one])}
            </li>
          ))}
        </ul>
        {notes.length > 0 && <Lines notes={notes} />}
        <span class="chips">
          {state === 'checked' && (
            <Button kind="primary" busy={busy} onClick={() => ask('POST', '/start')}>
              {texts.start}
            </Button>
          )}
          {state === 'interrupted' && (
            <Button kind="primary" busy={busy} onClick={() => ask('POST', '/start')}>
              {texts.goOn}
            </Button>
          )}
          {(state === 'done' || state === 'failed' || state === 'interrupted') && (
            <Button kind="danger" busy={busy} onClick={() => ask('DELETE', '/delete')}>
              {texts.undo}
            </Button>
          )}
          {state === 'undone' && details.kept > 0 && (
            <Button kind="danger" busy={busy} onClick={() => ask('DELETE', '/delete?force=true')}>
              {texts.force}
            </Button>
          )}
          {done > 0 && (
            <a class="button" href={asChosen(`/api/import/${id}/report`)} download>
              {texts.report}
            </a>
          )}
        </span>
      </div>
    </Section>
  )
}
