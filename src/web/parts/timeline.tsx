import { useEffect, useRef, useState } from 'preact/hooks'
import type { HistoryEntryList } from '../../http/history/contract/history.ts'
import { useLoad } from '../core/load.ts'
import { now, past, showsNowOnly } from '../core/past.ts'
import { resourceAt } from '../core/places.ts'
import { at, go } from '../core/router.ts'
import { account } from '../core/session.ts'
import { type Change, goTo, toNext, toPrevious } from '../core/steps.ts'
import { fill, locale, t } from '../core/texts.ts'
import { fieldOf, inUtc, moment, momentIn, momentText } from '../core/time.ts'
import { sayProblem } from '../core/toasts.ts'
import { Dialog } from './dialog.tsx'
import { TextField } from './field.tsx'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { When } from './when.tsx'

/** the ends of the timeline */
const steps = 1000
const day = 86_400_000
/** ms that the knob rests before the screens follow it */
const settles = 60

/** The history that the timeline shows: that of the resource on the screen, or of everything. */
const ofAccount = '/api/account'
const subjectOf = (path: string) => resourceAt(path) ?? ofAccount

const ago = (time: Date) => {
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' })
  const seconds = (time.getTime() - Date.now()) / 1000
  const [unit, size] = (
    [
      ['day', 86_400],
      ['hour', 3600],
      ['minute', 60],
    ] as const
  ).find(([, one]) => -seconds >= one) ?? ['second', 1]
  return words.format(Math.round(seconds / size), unit)
}

/** Asks for a moment by its date. */
const MomentDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [text, setText] = useState(fieldOf(past.value?.time ?? new Date()))
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const time = momentIn(text)
    onClose()
    if (!Number.isNaN(time.getTime())) goTo(time)
  }
  return (
    <Dialog title={t().past.choose} onClose={onClose}>
      <form onSubmit={submit}>
        <div class="body">
          <TextField
            label={t().past.moment}
            hint={t().past.chooseHint}
            type="datetime-local"
            value={text}
            onValue={setText}
            required
            autofocus
          />
        </div>
        <footer>
          <Button onClick={onClose}>{t().actions.cancel}</Button>
          <Button kind="primary" type="submit" writes={false}>
            {t().past.go}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

interface LineProps {
  readonly subject: string
  readonly start: number
  readonly end: number
  /** the newest ones first */
  readonly changes: readonly Change[]
}

/** The line with its ticks. Places are in percent of its length; those after the moment that is shown are paler. */
const Ticks = ({ places, shown }: { readonly places: readonly number[]; readonly shown: number }) => (
  <svg aria-hidden="true">
    <line class="base" x1="0" x2="100%" y1="50%" y2="50%" />
    {places.map((place) => (
      <line
        key={place}
        class={place > shown ? 'later' : 'change'}
        x1={`${place}%`}
        x2={`${place}%`}
        y1="24%"
        y2="50%"
      />
    ))}
  </svg>
)

/** The line of time, with a tick for each change, and the knob. */
const Line = ({ subject, start, end, changes }: LineProps) => {
  const shown = past.value
  const [held, setHeld] = useState<number | undefined>(undefined)
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  const share = (time: number) => Math.min(1, Math.max(0, (time - start) / (end - start)))
  const timeAt = (value: number) => new Date(start + ((end - start) * value) / steps)
  const value = held ?? (shown ? share(shown.time.getTime()) * steps : steps)
  const slide = (to: number) => {
    setHeld(to)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      setHeld(undefined)
      goTo(to >= steps ? new Date() : timeAt(to))
    }, settles) as unknown as number
  }
  const previous = () => void toPrevious(subject, changes).catch(sayProblem)
  const next = () => void toNext(subject, changes).catch(sayProblem)
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: previous,
    ArrowDown: previous,
    ArrowRight: next,
    ArrowUp: next,
    PageUp: () => goTo(new Date((shown?.time.getTime() ?? Date.now()) - day)),
    PageDown: () => goTo(new Date((shown?.time.getTime() ?? Date.now()) + day)),
    Home: () => goTo(new Date(start)),
    End: () => go(now(), { replace: true }),
  }
  const words = held === undefined ? shown?.time : timeAt(held)
  // ticks closer than the width of one are drawn once
  const places = [...new Set(changes.map(({ time }) => Math.round(share(moment(time).getTime()) * 500) / 5))]
  return (
    <div class="timeline">
      <Ticks places={places} shown={(value / steps) * 100} />
      <input
        id="moment"
        type="range"
        min="0"
        max={steps}
        step="any"
        value={value}
        aria-label={t().past.moment}
        aria-valuetext={words ? momentText(words) : t().past.now}
        onInput={(event) => slide(event.currentTarget.valueAsNumber)}
        onKeyDown={(event) => {
          const step = keys[event.key]
          if (!step) return
          event.preventDefault()
          step()
        }}
      />
    </div>
  )
}

/** The moment that is shown, in words, and that it cannot be changed. */
const Banner = ({ time, onChoose }: { readonly time: Date; readonly onChoose: () => void }) => (
  <div class="moment" role="status">
    <strong>
      <Icon name="history" />
      <button class="text-button" type="button" title={`${inUtc(time)} · ${t().past.choose}`} onClick={onChoose}>
        {momentText(time)}
      </button>
    </strong>
    <span>{showsNowOnly() ? t().past.screenOfNow : fill(t().past.shown, { ago: ago(time) })}</span>
  </div>
)

interface StepProps {
  readonly name: string
  readonly icon: 'left' | 'right'
  readonly onClick: () => Promise<void>
}

/** Goes one change further. On a phone, the arrow alone has to do. */
const StepButton = ({ name, icon, onClick }: StepProps) => (
  <button class="button" type="button" aria-label={name} title={name} onClick={() => void onClick().catch(sayProblem)}>
    {icon === 'left' && <Icon name={icon} />}
    <span class="not-phone">{name}</span>
    {icon === 'right' && <Icon name={icon} />}
  </button>
)

/** From the moment that is shown to the changes before and after it, and back to now. */
const Steps = ({ subject, changes }: Pick<LineProps, 'subject' | 'changes'>) => (
  <div class="steps">
    <StepButton name={t().past.previous} icon="left" onClick={() => toPrevious(subject, changes)} />
    <StepButton name={t().past.next} icon="right" onClick={() => toNext(subject, changes)} />
    <a class="button primary" href={now()}>
      {t().past.back}
    </a>
  </div>
)

/** Says that the present is shown, and what time it is. */
const NowButton = ({ time, onChoose }: { readonly time: Date; readonly onChoose: () => void }) => (
  <button
    class="text-button when-button"
    type="button"
    title={`${inUtc(time)} · ${t().past.choose}`}
    onClick={onChoose}
  >
    <strong>{t().past.now}</strong>
    <span class="not-phone quiet">· {momentText(time, 'dateAndClock')}</span>
  </button>
)

/** The timeline on every screen. Moving its knob shows everything as it was, and turns the same bar into a banner. */
export const Timeline = () => {
  const [choosing, setChoosing] = useState(false)
  const [end, setEnd] = useState(Date.now())
  const subject = subjectOf(at.value.path)
  const isAccount = subject === ofAccount
  const path = `${subject}/history?limit=100&fields=event,time${isAccount ? '&group=request' : ''}`
  const history = useLoad<HistoryEntryList>(account.value ? path : undefined, { ofNow: true })
  useEffect(() => {
    const timer = setInterval(() => setEnd(Date.now()), 60_000)
    return () => clearInterval(timer)
  }, [])
  const shown = past.value
  const changes = history.data?.data.events ?? []
  const isWhole = (history.data?.data.result ?? 0) <= changes.length
  const first = isWhole ? changes.at(-1)?.time : undefined
  const start = Math.min(
    moment(first ?? account.value?.registered ?? '2020-01-01 00:00:00').getTime(),
    shown?.time.getTime() ?? Infinity,
    end - 60_000,
  )
  return (
    <div class="time" role="group" aria-label={t().past.label}>
      {shown ? (
        <Banner time={shown.time} onChoose={() => setChoosing(true)} />
      ) : (
        <label for="moment">
          <Icon name="history" />
          <span>{t().past.label}</span>
        </label>
      )}
      <div>
        <Line key={subject} subject={subject} start={start} end={end} changes={changes} />
        {shown && (
          <div class="timeline-ends" aria-hidden="true">
            <span>
              <When at={new Date(start)} as="date" />
            </span>
            <span>{t().past.now}</span>
          </div>
        )}
      </div>
      {shown ? (
        // an import is one mark, but has a step for each of its changes
        <Steps subject={subject} changes={isAccount ? [] : changes} />
      ) : (
        <NowButton time={new Date(end)} onChoose={() => setChoosing(true)} />
      )}
      {choosing && <MomentDialog onClose={() => setChoosing(false)} />}
    </div>
  )
}
