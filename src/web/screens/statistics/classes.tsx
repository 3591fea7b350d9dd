import { useEffect, useState } from 'preact/hooks'
import type { Reclassifications } from '../../../http/statistics/contract/reclassify.ts'
import { request } from '../../core/api.ts'
import { useLoad } from '../../core/load.ts'
import { told } from '../../core/messages.ts'
import { t } from '../../core/alltexts.ts'
import { counted, figure, fill, textFor } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Head, Section } from '../../parts/section.tsx'
import { Failed, Notice, Skeleton } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

type Data = Reclassifications['data']
type Job = NonNullable<Data['job']>
type Change = Job['changes'][number]

/** ms between two looks at what runs in the background */
const interval = 2000
/** rows of a list of changes */
const mostShown = 100

const className = (name: string) =>
  textFor({ ...t().stats.classes, ...t().through.kinds }, name) ?? t().through.kinds.other
const ruleName = (rule: string) => textFor(t().classes.rules, rule || 'unnamed') ?? rule

const Changes = ({ changes }: { readonly changes: readonly Change[] }) => {
  const texts = t().classes
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={texts.visits}>
      <table class="figures">
        <caption class="visually-hidden">{texts.visits}</caption>
        <thead>
          <tr>
            {[texts.by, texts.from, texts.to].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th class="num" scope="col">
              {texts.visits}
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, mostShown).map(({ from, to, rule, visits }) => (
            <tr key={`${from} ${to} ${rule}`}>
              <th scope="row">
                <bdi>{ruleName(rule)}</bdi>
              </th>
              <td>{className(from)}</td>
              <td>{className(to)}</td>
              <td class="num">{figure(visits)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Running = ({ job: { work, accounts, parts } }: { readonly job: Job }) => {
  const texts = t().classes
  const step = {
    ...{ n: figure(Math.min(accounts.done + 1, accounts.of)), of: figure(accounts.of) },
    ...{ part: figure(parts.done), parts: figure(parts.of) },
  }
  return (
    <Notice kind="good" icon="turn">
      {texts.works[work]}: {fill(texts.step, step)}. {texts.goesOn}
    </Notice>
  )
}

/** Says why a job has failed, in the language of the page, and what happens next. */
const WhyFailed = ({ job: { reason, code, params } }: { readonly job: Job }) => {
  const [why, setWhy] = useState('')
  useEffect(() => {
    if (reason === null) return
    void told({ message: reason, code, params }).then(({ words }) => setWhy(words))
  }, [reason, code])
  return (
    <Notice kind="warn">
      {t().classes.failed} {why && fill(t().classes.why, { why })}
    </Notice>
  )
}

/** What the last job has found or done. */
const Ended = ({ job }: { readonly job: Job }) => {
  const { work, failed, visits, changes } = job
  const texts = t().classes
  if (failed) return <WhyFailed job={job} />
  if (work === 'undo') return <p>{texts.back}</p>
  if (visits === 0) return <p>{texts.none}</p>
  return (
    <>
      <p>
        <strong>{counted(work === 'count' ? texts.would : texts.did, visits)}</strong>
      </p>
      <Changes changes={changes} />
    </>
  )
}

/** All reclassifications. Only the newest one that is not undone can be undone. */
const Made = ({ made, undo }: { readonly made: Data['made']; readonly undo: ((id: string) => void) | undefined }) => {
  const texts = t().classes
  const newest = made.find(({ undone }) => !undone)
  return (
    <Section title={texts.made}>
      <div class="scroll" tabIndex={0} role="group" aria-label={texts.made}>
        <table class="figures">
          <caption class="visually-hidden">{texts.made}</caption>
          <tbody>
            {made.map(({ id, account, date, visits, undone }) => (
              <tr key={id}>
                <th scope="row">
                  <When at={moment(date)} />
                </th>
                {!undo && <td>{fill(texts.account, { id: account })}</td>}
                <td>{counted(texts.did, visits)}</td>
                <td>
                  {undone && texts.undone}
                  {undo && id === newest?.id && (
                    <Button writes onClick={() => undo(id)}>
                      {texts.undo}
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}

interface BoardProps {
  readonly path: '/api/account/reclassify' | '/api/operator/reclassify'
}

/** Counts and changes the classes of recorded visits, of the account or of all. */
export const ClassBoard = ({ path }: BoardProps) => {
  const { data, error, reload } = useLoad<Reclassifications>(path, { ofNow: true })
  const [busy, setBusy] = useState(false)
  const texts = t().classes
  const isOwn = path === '/api/account/reclassify'
  const job = data?.data.job ?? undefined
  const runs = job !== undefined && job.ended === null
  useEffect(() => {
    if (!runs) return undefined
    const timer = setInterval(reload, interval)
    return () => clearInterval(timer)
  }, [runs])
  const begin = (body: object) => {
    setBusy(true)
    void request('POST', path, { ...(isOwn && { background: true }), ...body })
      .then(reload, sayProblem)
      .finally(() => setBusy(false))
  }
  if (error && !data) return <Failed error={error} reload={reload} />
  if (!data) return <Skeleton rows={4} label={texts.title} />
  const wouldChange = job?.work === 'count' && !runs && !job.failed ? job.visits : 0
  return (
    <div class="stack">
      <p class="quiet">{texts.only}</p>
      {job && (runs ? <Running job={job} /> : <Ended job={job} />)}
      <p class="row">
        {wouldChange > 0 && (
          <Button kind="primary" busy={busy} onClick={() => begin({})}>
            {counted(texts.apply, wouldChange)}
          </Button>
        )}
        <Button writes busy={busy} disabled={runs} onClick={() => begin({ dryRun: true })}>
          {texts.count}
        </Button>
      </p>
      {data.data.made.length > 0 && (
        <Made made={data.data.made} undo={isOwn && !runs ? (id) => begin({ undo: id }) : undefined} />
      )}
    </div>
  )
}

/** The classes of the visits of the account. */
export const Classes = () => (
  <>
    <Head title={t().classes.title} text={t().classes.lead} />
    <ClassBoard path="/api/account/reclassify" />
  </>
)
