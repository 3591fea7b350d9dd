import type { Health } from '../../../http/operator/contract.ts'
import { useLoad } from '../../core/load.ts'
import { t } from '../../core/alltexts.ts'
import { counted, figure, fill } from '../../core/texts.ts'
import { Mark } from '../../parts/mark.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, Notice, Skeleton } from '../../parts/states.tsx'
import { OperatorPage } from './page.tsx'

/** seconds that the tables may be behind before it is a problem */
const longBehind = 60

const Fact = ({ name, bad, value }: { readonly name: string; readonly bad: boolean; readonly value: string }) => (
  <>
    <dt>{name}</dt>
    <dd>
      <Mark kind={bad ? 'bad' : 'good'}>{value}</Mark>
    </dd>
  </>
)

const Facts = ({ health }: { readonly health: Health }) => {
  const texts = t().operator
  const { projections, behind, relay, webhooks } = health
  const halted = projections.filter((one) => one.halted !== null)
  const behindText = (seconds: number | null) =>
    seconds === null ? texts.noAnswer : seconds === 0 ? texts.upToDate : counted(texts.seconds, seconds)
  const isLong = (seconds: number | null) => seconds === null || seconds > longBehind
  const running = { n: figure(projections.length - halted.length), of: figure(projections.length) }
  return (
    <>
      <dl class="facts-list">
        <Fact name={texts.projections} bad={halted.length > 0} value={fill(texts.running, running)} />
        <Fact name={texts.changesBehind} bad={isLong(behind.changes)} value={behindText(behind.changes)} />
        <Fact name={texts.clicksBehind} bad={isLong(behind.clicks)} value={behindText(behind.clicks)} />
        <Fact
          name={texts.relay}
          bad={relay.seconds > longBehind}
          value={relay.clicks === 0 ? texts.relayEmpty : counted(texts.relayClicks, relay.clicks)}
        />
        <Fact
          name={texts.webhooks}
          bad={webhooks.failing > 0}
          value={
            webhooks.all === 0
              ? texts.noWebhooks
              : fill(texts.webhookState, {
                  n: figure(webhooks.all),
                  failing: figure(webhooks.failing),
                  stopped: figure(webhooks.stopped),
                })
          }
        />
      </dl>
      {halted.map(({ name, halted: reason }) => (
        <Notice key={name} kind="warn">
          {fill(texts.halted, { name, reason: reason ?? '' })}
        </Notice>
      ))}
    </>
  )
}

const mebibyte = 1_048_576
const size = (bytes: number) => fill(t().operator.size, { n: figure(bytes / mebibyte, bytes < 100 * mebibyte ? 1 : 0) })

const Storage = ({ storage }: Pick<Health, 'storage'>) => {
  const texts = t().operator
  const rows = (['log', 'read', 'state'] as const).filter((one) => storage[one] > 0)
  return (
    <table class="figures">
      <caption class="visually-hidden">{texts.storage}</caption>
      <tbody>
        {rows.map((one) => (
          <tr key={one}>
            <th scope="row">{texts.stores[one]}</th>
            <td class="num">{size(storage[one])}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">{texts.total}</th>
          <td class="num">{size(rows.reduce((sum, one) => sum + storage[one], 0))}</td>
        </tr>
      </tbody>
    </table>
  )
}

const Shown = ({ health }: { readonly health: Health }) => {
  const texts = t().operator
  const { ready, problems } = health
  return (
    <div class="stack">
      {problems.length === 0 ? (
        <Notice kind="good" icon="check">
          {texts.allWell}
        </Notice>
      ) : (
        problems.map((problem) => (
          <Notice key={problem} kind={ready ? 'warn' : 'bad'}>
            {problem}
          </Notice>
        ))
      )}
      <div class="operated-health">
        <Section title={texts.work}>
          <Facts health={health} />
        </Section>
        <Section title={texts.storage}>
          <Storage storage={health.storage} />
        </Section>
      </div>
    </div>
  )
}

/** Whether everything works: projections, relay and webhooks, and how much room the database takes. */
export const OperatorHealth = () => {
  const { data, error, reload } = useLoad<Health>('/api/operator/health')
  return (
    <OperatorPage>
      {error && <Failed error={error} reload={reload} />}
      {!data && !error && <Skeleton rows={8} label={t().operator.health} />}
      {data && <Shown health={data} />}
    </OperatorPage>
  )
}
