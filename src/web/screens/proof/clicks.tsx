import { asChosen } from '../../core/acting.ts'
import type { ClickLine } from '../../../http/streams/contract.ts'
import { useEffect, useState } from 'preact/hooks'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { Section } from '../../parts/section.tsx'
import { When } from '../../parts/when.tsx'
import { countryNamed } from '../links/editor/rules.ts'
import { saveReceipt } from './receipt.ts'

/** clicks that are shown, and how many events back they are searched for, until there are some */
const [most, spans] = [6, [200, 5000, 100_000]] as const

/** Returns the last clicks of the account, newest first. */
const lastClicks = async (events: number, signal: AbortSignal): Promise<readonly ClickLine[]> => {
  for (const span of spans) {
    const answer = await fetch(asChosen(`/api/clicks?from=${Math.max(0, events - span)}&limit=2000`), {
      credentials: 'same-origin',
      headers: { Accept: 'application/x-ndjson' },
      signal,
    })
    const lines = answer.ok ? (await answer.text()).split('\n').filter(Boolean) : []
    if (lines.length > 0 || span >= events)
      return lines
        .slice(-most)
        .toReversed()
        .map((line) => JSON.parse(line) as ClickLine)
  }
  return []
}

/** The last clicks, each with its receipt: it proves one click and shows no other. */
export const RecentClicks = ({ events }: { readonly events: number }) => {
  const [clicks, setClicks] = useState<readonly ClickLine[]>([])
  const texts = t().proof
  useEffect(() => {
    const stop = new AbortController()
    lastClicks(events, stop.signal).then(setClicks, () => {})
    return () => stop.abort()
  }, [events])
  return (
    <Section title={texts.clicks}>
      <p class="hint">{texts.clicksText}</p>
      {clicks.length === 0 && <p class="quiet">{texts.noClicks}</p>}
      <ul class="receipts">
        {clicks.map(({ id, at, country, browser, referrer }) => (
          <li key={id}>
            <When at={new Date(at)} as="shortDayAndClock" />
            <span class="cut" dir="auto">
              {[country && country !== 'Unknown' ? countryNamed(country) : '', browser.family, referrer]
                .filter(Boolean)
                .join(' · ')}
            </span>
            <button
              class="text-button small"
              type="button"
              aria-label={fill(texts.receiptOf, { id })}
              onClick={() => void saveReceipt('clicks', id)}
            >
              {t().history.receipt}
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}
