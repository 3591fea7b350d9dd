import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { HistoryEntryList } from '../../../http/history/contract/history.ts'
import type { ProofState } from '../../../http/proof/contract.ts'
import { ApiError, get } from '../../core/api.ts'
import { saveFile } from '../../core/csv.ts'
import { useLoad } from '../../core/load.ts'
import { t } from '../../core/alltexts.ts'
import { fill, figure } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { Problem } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Head, Section } from '../../parts/section.tsx'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { RecentClicks } from './clicks.tsx'
import { readReceipt } from './receipt.ts'
import { CannotCheck, type Receipt, type Step, type Verdict, verifyReceipt } from './verify.ts'

const steps: readonly Step[] = ['signature', 'event', 'click']

/** What was found out about a receipt, step by step. */
const Result = ({ verdict, receipt }: { readonly verdict: Verdict; readonly receipt: Receipt }) => {
  const texts = t().proof
  const values = { size: figure(verdict.size), event: figure(receipt.proof.index) }
  const good = verdict.failed === undefined
  return (
    <div class="verdict" role="status">
      <p class={`message ${good ? 'good' : 'bad'}`}>
        <Icon name={good ? 'proof' : 'warning'} />
        <strong>{good ? texts.holds : texts.holdsNot}</strong>
      </p>
      <ol>
        {steps
          .filter((step) => verdict.passed.includes(step) || verdict.failed === step)
          .map((step) => (
            <li key={step} class={`message ${verdict.failed === step ? 'bad' : 'good'}`}>
              <Icon name={verdict.failed === step ? 'close' : 'check'} />
              <span>{fill(verdict.failed === step ? texts.stepsNot[step] : texts.steps[step], values)}</span>
            </li>
          ))}
      </ol>
      {good && (
        <details>
          <summary>{texts.content}</summary>
          <pre class="receipt" tabIndex={0}>
            {JSON.stringify(JSON.parse(receipt.click ?? receipt.event), null, 2)}
          </pre>
        </details>
      )}
    </div>
  )
}

/** Checks a receipt in the page itself: a file, or that of the newest change. */
const Check = ({ proofKey, signed }: { readonly proofKey: string; readonly signed: number }) => {
  const [found, setFound] = useState<{ readonly receipt: Receipt; readonly verdict: Verdict } | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [busy, setBusy] = useState(false)
  const texts = t().proof
  const check = async (read: () => Promise<Receipt>) => {
    setBusy(true)
    setProblem(undefined)
    setFound(undefined)
    try {
      const receipt = await read()
      setFound({ receipt, verdict: await verifyReceipt(receipt, proofKey) })
    } catch (error) {
      if (error instanceof CannotCheck) setProblem(texts.cannot)
      else setProblem(error instanceof ApiError ? error.message : texts.noReceipt)
    } finally {
      setBusy(false)
    }
  }
  const newest = async () => {
    const { events } = (await get<HistoryEntryList>('/api/account/history?limit=100&fields=event')).data
    // not every event has a receipt for its account: that of a second factor shows nothing
    for (const { event } of events.filter((one) => one.event !== null && one.event < signed).slice(0, 5))
      try {
        return await readReceipt('events', String(event))
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error
      }
    throw new ApiError(404, texts.noneSigned)
  }
  return (
    <Section title={texts.check}>
      <p class="hint">{texts.checkText}</p>
      <div class="chips spaced">
        <label class="button file">
          {texts.file}
          <input
            class="visually-hidden"
            type="file"
            accept="application/json,.json"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? []
              if (file) void check(async () => JSON.parse(await file.text()) as Receipt)
            }}
          />
        </label>
        <Button busy={busy} onClick={() => void check(newest)}>
          {texts.newest}
        </Button>
      </div>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {found && <Result {...found} />}
    </Section>
  )
}

const State = ({ state: { events, checkpoint, verified } }: { readonly state: ProofState }) => {
  const texts = t().proof
  const cell = (name: string, n: string, note: ComponentChildren) => (
    <li>
      <div class="total">
        <span class="name">{name}</span>
        <span class="figure">{n}</span>
        <span class="versus">{note}</span>
      </div>
    </li>
  )
  const at = (time: string) => <When at={moment(time)} />
  return (
    <ul class="totals three">
      {cell(texts.events, figure(events), texts.eventsNote)}
      {checkpoint
        ? cell(texts.signed, figure(checkpoint.events), at(checkpoint.at))
        : cell(texts.signed, '–', texts.notSigned)}
      {verified
        ? cell(texts.verified, figure(verified.events), at(verified.at))
        : cell(texts.verified, '–', texts.notVerified)}
    </ul>
  )
}

const Key = ({ state: { key, checkpoint } }: { readonly state: ProofState }) => {
  const texts = t().proof
  return (
    <Section
      title={texts.key}
      tools={
        checkpoint && (
          <button
            class="text-button small"
            type="button"
            onClick={() => saveFile('checkpoint.txt', checkpoint.note, 'text/plain;charset=utf-8')}
          >
            {texts.saveCheckpoint}
          </button>
        )
      }
    >
      <p class="hint">{texts.keyText}</p>
      <div class="copied">
        <code class="receipt">{key}</code>
        <CopyButton text={key} label={fill(t().actions.copy, { what: texts.key })} />
      </div>
      {checkpoint && (
        <pre class="receipt" tabIndex={0} aria-label={texts.signed}>
          {checkpoint.note}
        </pre>
      )}
      <p class="hint">{texts.outside}</p>
      <pre class="receipt" tabIndex={0} aria-label={texts.outside}>
        python3 docs/verify.py receipt receipt.json &quot;$KEY&quot;
      </pre>
    </Section>
  )
}

/** What proves that the log was not changed, what that means, and a check without trust in the service. */
export const ProofScreen = () => {
  const proof = useLoad<ProofState>('/api/proof')
  const texts = t().proof
  const state = proof.data
  return (
    <>
      <Head title={texts.title} text={texts.lead} />
      {proof.error && <Failed error={proof.error} reload={proof.reload} />}
      {!state && !proof.error && <Skeleton rows={6} label={texts.title} />}
      {state && (
        <div class="stack">
          <State state={state} />
          <div class="proof-columns">
            <div class="stack">
              <Check proofKey={state.key} signed={state.checkpoint?.events ?? 0} />
              <RecentClicks events={state.events} />
            </div>
            <div class="stack">
              <Section title={texts.means}>
                <ul class="plain-words">
                  {texts.words.map((word) => (
                    <li key={word}>{word}</li>
                  ))}
                </ul>
              </Section>
              <Key state={state} />
            </div>
          </div>
        </div>
      )}
    </>
  )
}
