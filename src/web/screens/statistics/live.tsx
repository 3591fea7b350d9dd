import { useEffect, useRef, useState } from 'preact/hooks'
import type { FoundLink } from '../../../http/links/contract/link.ts'
import type { ClickLine } from '../../../http/streams/contract.ts'
import { asChosen } from '../../core/acting.ts'
import { get } from '../../core/api.ts'
import { href } from '../../core/router.ts'
import { counted, t } from '../../core/texts.ts'
import { Section } from '../../parts/section.tsx'
import { When } from '../../parts/when.tsx'
import { cameFrom, nameOf, passes } from './filters.ts'

/** number of clicks to show, and to keep for the count of the last minute */
const [shown, kept] = [8, 1000]
/** ms between two repaints */
const repaint = 1000
const minute = 60_000

interface Arrived extends ClickLine {
  readonly when: number
}
type State = 'connecting' | 'open' | 'failed'

/**
 * Follows the clicks while the window is visible. Shows new ones at most once a second, and not while the list is in
 * use.
 */
const useClicks = (of: LiveProps['of'], held: boolean, onClicks: () => void) => {
  const [clicks, setClicks] = useState<readonly Arrived[]>([])
  const [state, setState] = useState<State>('connecting')
  const waiting = useRef<Arrived[]>([])
  const isHeld = useRef(held)
  const notify = useRef(onClicks)
  isHeld.current = held
  notify.current = onClicks
  useEffect(() => {
    let source: EventSource | undefined
    let last = ''
    const open = () => {
      if (source || document.visibilityState === 'hidden') return
      const query = new URLSearchParams({ from: last || 'now', ...of })
      source = new EventSource(asChosen(`/api/clicks?${query.toString()}`))
      source.onopen = () => setState('open')
      source.onerror = () => setState(source?.readyState === EventSource.CLOSED ? 'failed' : 'connecting')
      source.onmessage = ({ data, lastEventId }: MessageEvent<string>) => {
        if (lastEventId === last) return
        last = lastEventId
        const click = JSON.parse(data) as ClickLine
        if (!passes(click)) return
        waiting.current.push({ ...click, when: Date.now() })
        notify.current()
      }
    }
    const close = () => {
      source?.close()
      source = undefined
    }
    const onSeen = () => (document.visibilityState === 'hidden' ? close() : open())
    const painter = setInterval(() => {
      if (isHeld.current || waiting.current.length === 0) return
      const arrived = waiting.current.splice(0).toReversed()
      setClicks((before) => [...arrived, ...before].slice(0, kept))
    }, repaint)
    document.addEventListener('visibilitychange', onSeen)
    open()
    return () => {
      close()
      clearInterval(painter)
      document.removeEventListener('visibilitychange', onSeen)
    }
  }, [JSON.stringify(of)])
  return { clicks: clicks.filter(passes), state }
}

const known = new Map<number, string>()

/** Returns the short addresses of links, and requests each once. */
const useNames = (ids: readonly number[]) => {
  const [, render] = useState(0)
  useEffect(() => {
    for (const id of ids.filter((one) => one !== 0 && !known.has(one))) {
      known.set(id, '…')
      void get<FoundLink>(`/api/url/${id}`).then(
        ({ details }) => {
          known.set(id, details.alias)
          render((n) => n + 1)
        },
        () => known.delete(id),
      )
    }
  }, [ids.join()])
  return (id: number) => known.get(id) ?? ''
}

const Line = ({ click, name, fresh }: { readonly click: Arrived; readonly name: string; readonly fresh: boolean }) => {
  const isScan = click.source.kind === 'qr'
  const from = [
    nameOf('country', click.country || 'none'),
    click.os.family || nameOf('device', click.device),
    isScan ? nameOf('source', 'qr') : cameFrom(click.referrer, click.medium),
  ]
  return (
    <li class={fresh ? 'fresh' : ''}>
      <When at={new Date(click.at)} as="seconds" />
      <div>
        {click.link === 0 ? (
          <strong>{nameOf('source', click.source.kind)}</strong>
        ) : (
          <a class="cut" href={href(`/links/${click.link}`)} dir="auto">
            /{name}
          </a>
        )}
        <span class="from cut">{from.join(' · ')}</span>
      </div>
    </li>
  )
}

/** Renders again from time to time: figures about the last minute get old. */
const useTick = (ms: number) => {
  const [, render] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => render((n) => n + 1), ms)
    return () => clearInterval(timer)
  }, [])
}

interface LiveProps {
  /** the filter of the clicks, as a query of the API; empty: all of the account */
  readonly of: Readonly<Record<string, string>>
  /** called for each click that passes the filters */
  readonly onClicks: () => void
}

/**
 * Clicks as they happen. A screen reader announces none; the list stays as it is while the user is on it, or has paused
 * it.
 */
export const Live = ({ of, onClicks }: LiveProps) => {
  const [paused, setPaused] = useState(false)
  const [on, setOn] = useState(false)
  const { clicks, state } = useClicks(of, paused || on, onClicks)
  const texts = t().stats
  const rows = clicks.slice(0, shown)
  const nameOfLink = useNames([...new Set(rows.map((click) => click.link))])
  useTick(10_000)
  const recent = clicks.filter(({ when }) => Date.now() - when < minute).length
  return (
    <Section
      title={texts.live}
      tools={
        <>
          <span class={`live ${paused ? 'paused' : state}`}>
            <i aria-hidden="true" />
            {state === 'failed' ? texts.notLive : paused ? texts.paused : counted(texts.lastMinute, recent)}
          </span>
          <button class="text-button small" type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
            {texts.pause}
          </button>
        </>
      }
    >
      <div
        class="feed-box"
        onMouseEnter={() => setOn(true)}
        onMouseLeave={() => setOn(false)}
        onFocusIn={() => setOn(true)}
        onFocusOut={() => setOn(false)}
      >
        {rows.length === 0 ? (
          <p class="quiet waiting">{state === 'failed' ? texts.notLiveText : texts.waiting}</p>
        ) : (
          <ol class="feed">
            {rows.map((click, n) => (
              <Line key={click.id} click={click} name={nameOfLink(click.link)} fresh={n === 0} />
            ))}
          </ol>
        )}
      </div>
    </Section>
  )
}
