import type { DomainDetails, DomainVerified, FoundDomain, Verification } from '../../../http/domains/contract.ts'
import { withoutScheme } from '../../core/address.ts'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { useLoad } from '../../core/load.ts'
import { remove } from '../../core/removal.ts'
import { go, href, type ScreenProps } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say } from '../../core/toasts.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { Problem } from '../../parts/field.tsx'
import { HistoryLink } from '../../parts/historylink.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Head, NotFound, Section } from '../../parts/section.tsx'
import { Failed, Notice, Skeleton } from '../../parts/states.tsx'
import { filled, When } from '../../parts/when.tsx'
import { Apps } from './apps.tsx'
import { DomainState } from './list.tsx'
import { Redirects } from './redirects.tsx'

const Value = ({ text }: { readonly text: string }) => (
  <span class="value">
    <code class="mono">{text}</code>
    <CopyButton text={text} label={fill(t().actions.copy, { what: text })} />
  </span>
)

/** The result of a lookup, in a word and as in DNS. */
const FoundState = ({ found, ok }: Pick<Verification['record'], 'found' | 'ok'>) => {
  const texts = t().domains
  if (ok === null) return <Mark kind="wait">{texts.notLooked}</Mark>
  return (
    <>
      <Mark kind={ok ? 'good' : 'bad'}>{ok ? texts.right : found?.length ? texts.different : texts.missing}</Mark>
      {!ok && found !== null && found.length > 0 && (
        <ul class="found">
          {found.map((one) => (
            <li key={one}>
              <code class="mono">{one}</code>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** The records to create in the DNS of the domain. */
const Records = ({ host, verification }: { readonly host: string; readonly verification: Verification }) => {
  const texts = t().domains
  const { record, dns } = verification
  return (
    <div class="scroll plain-scroll" tabIndex={0} role="group" aria-label={texts.records}>
      <table class="figures records">
        <caption class="visually-hidden">{texts.records}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.type}</th>
            <th scope="col">{t().resources.name}</th>
            <th scope="col">{texts.value}</th>
            <th scope="col">{texts.foundNow}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{record.type}</th>
            <td data-label={t().resources.name}>
              <Value text={record.name} />
            </td>
            <td data-label={texts.value}>
              <Value text={record.value} />
            </td>
            <td data-label={texts.foundNow}>
              <FoundState {...record} />
            </td>
          </tr>
          {dns && (
            <tr>
              <th scope="row">{dns.targets.every((one) => /^[\d.:a-f]+$/i.test(one)) ? 'A, AAAA' : 'CNAME'}</th>
              <td data-label={t().resources.name}>
                <Value text={host} />
              </td>
              <td data-label={texts.value}>
                {dns.targets.map((one) => (
                  <Value key={one} text={one} />
                ))}
              </td>
              <td data-label={texts.foundNow}>
                <FoundState {...dns} />
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  )
}

const Dns = ({ domain, verification }: { readonly domain: DomainDetails; readonly verification: Verification }) => {
  const form = useForm()
  const texts = t().domains
  const check = () =>
    form.run(async () => {
      const answer = await request<DomainVerified>('POST', `/api/domain/${domain.id}/verify`)
      say(answer.status === 'active' ? texts.verified : texts.notVerified)
    })
  const { problem, checked } = verification
  return (
    <Section
      title={texts.records}
      tools={
        <Button icon="turn" busy={form.busy} onClick={() => void check()}>
          {texts.check}
        </Button>
      }
    >
      <div class="stack-4">
        {domain.status !== 'active' && <p>{texts.recordsText}</p>}
        <Records host={withoutScheme(domain.domain)} verification={verification} />
        {form.error && <Problem>{form.error.message}</Problem>}
        {problem && (
          <Notice kind={domain.status === 'pending' ? 'warn' : 'bad'}>
            {/* a message of the API, which speaks English */}
            <span lang="en">{problem}</span>
          </Notice>
        )}
        {checked && <p class="hint">{filled(texts.checked, { when: <When at={moment(checked)} /> })}</p>}
      </div>
    </Section>
  )
}

/** One branded domain: its DNS settings, what was found there, and where it leads without a link. */
export const DomainScreen = ({ params }: ScreenProps) => {
  const id = Number(params['id'])
  const found = useLoad<FoundDomain>(`/api/domain/${id}`)
  const { domains: texts, resources, link } = t()
  if (found.error?.status === 404)
    return <NotFound title={texts.notFound} text={link.notFoundText} href={href('/domains')} name={texts.title} />
  if (!found.data)
    return found.error ? <Failed error={found.error} reload={found.reload} /> : <Skeleton rows={8} label={texts.one} />
  const { details } = found.data
  const host = withoutScheme(details.domain)
  return (
    <>
      <Head
        title={host}
        text={
          <>
            <DomainState status={details.status} />
            {details.aliases === 'exact' && ` · ${texts.exact}`}
          </>
        }
      >
        <span class="chips">
          <a class="button" href={href('/links', { domain: details.domain })}>
            {resources.itsLinks}
          </a>
          <HistoryLink of="domain" id={id} />
          <Button
            kind="danger"
            onClick={() =>
              void remove('/api/domain', { id, name: host }, () => {
                go(href('/domains'))
                return () => {}
              })
            }
          >
            {resources.delete}
          </Button>
        </span>
      </Head>
      <div class="stack">
        {details.verification ? (
          <Dns domain={details} verification={details.verification} />
        ) : (
          <Section title={texts.records}>
            <p class="quiet">{texts.unchecked}</p>
          </Section>
        )}
        <Redirects key={`${details.redirectroot} ${details.redirect404}`} domain={details} />
        <Apps key={JSON.stringify([details.apple, details.android])} domain={details} />
      </div>
    </>
  )
}
