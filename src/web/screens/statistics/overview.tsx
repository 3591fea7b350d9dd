import { useState } from 'preact/hooks'
import { localHostIn } from '../../core/address.ts'
import type { LinkList } from '../../../http/links/contract/link.ts'
import { ApiError, request } from '../../core/api.ts'
import { useLoad } from '../../core/load.ts'
import { at, go, href } from '../../core/router.ts'
import { account, service } from '../../core/session.ts'
import { fill, t } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { Button } from '../../parts/button.tsx'
import { Problem } from '../../parts/field.tsx'
import { periodBefore, periodInWords, periodOf } from './period.ts'
import { Periods } from './presets.tsx'
import { Head, Section } from '../../parts/section.tsx'
import { Statistics } from './statistics.tsx'

/** Returns the first steps. A phone cannot take the second one while short links lead to this machine only. */
const stepsFrom = (baseUrl: string) => {
  const { onlyHere, plan } = t().first
  const host = localHostIn(baseUrl)
  return plan.map(([title = '', text = ''], n) => [title, n === 1 && host ? fill(onlyHere, { host }) : text] as const)
}

/** The screen of an account without links. */
const First = () => {
  const [url, setUrl] = useState('')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [busy, setBusy] = useState(false)
  const texts = t().first
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      const { id } = await request<{ readonly id: number }>('POST', '/api/url/add', { url })
      go(href(`/links/${id}`, { made: '1' }))
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t().errors.unknown)
      setBusy(false)
    }
  }
  return (
    <div class="first">
      <div>
        <h1>{texts.title}</h1>
        <p class="lead">{texts.lead}</p>
        <form class="first-form" onSubmit={(event) => void submit(event)}>
          <label for="first-url">{texts.address}</label>
          <div class="row">
            <input
              class="input"
              id="first-url"
              inputMode="url"
              placeholder="https://"
              required
              autoFocus
              dir="auto"
              value={url}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
            <Button kind="primary" type="submit" busy={busy}>
              {texts.shorten}
            </Button>
          </div>
          {problem === undefined ? <p class="hint">{texts.hint}</p> : <Problem>{problem}</Problem>}
        </form>
      </div>
      <Section title={texts.steps}>
        <ol class="plan">
          {stepsFrom(service.baseUrl).map(([title, text], n) => (
            <li key={title} class={n === 0 ? 'current' : ''}>
              <div>
                <strong>{title}</strong>
                <span class="quiet">{text}</span>
              </div>
            </li>
          ))}
        </ol>
      </Section>
    </div>
  )
}

/** The result of all links. */
export const Overview = () => {
  const since = account.value ? moment(account.value.registered) : new Date(0)
  const period = periodOf(at.value.query, since)
  const links = useLoad<LinkList>('/api/urls?limit=1&archived=all&fields=id')
  if (links.data?.data.result === 0) return <First />
  const texts = t().overview
  const compared = period.name === 'all' ? '' : fill(texts.compared, { period: periodInWords(periodBefore(period)) })
  const isKnown = period.name !== 'all' || account.value !== undefined
  return (
    <>
      <Head title={texts.title} text={isKnown ? `${periodInWords(period)}${compared}` : '\u00a0'}>
        <Periods period={period} />
      </Head>
      {isKnown && <Statistics period={period} />}
    </>
  )
}
