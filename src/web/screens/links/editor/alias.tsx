import type { BulkAnswer } from '../../../../http/links/contract/bulk.ts'
import { useEffect, useState } from 'preact/hooks'
import { withoutScheme } from '../../../core/address.ts'
import type { DomainList } from '../../../../http/domains/contract.ts'
import { request } from '../../../core/api.ts'
import { useLoad } from '../../../core/load.ts'
import { told } from '../../../core/messages.ts'
import { service, shortHost } from '../../../core/session.ts'
import { problemOf } from '../../../core/form.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { Field } from '../../../parts/field.tsx'
import type { Draft } from './draft.ts'
import type { FormProps } from './form.tsx'

/** ms after the last letter until a name is tried */
const pause = 300

interface Availability {
  readonly name: string
  readonly problem: string | undefined
}

/** Asks whether a name is free, while it is typed: a dry run creates nothing. */
const useAvailability = ({ custom, domain }: Pick<Draft, 'custom' | 'domain'>, own: string | undefined) => {
  const [found, setFound] = useState<Availability | undefined>(undefined)
  const name = custom.trim()
  useEffect(() => {
    setFound(undefined)
    if (name === '' || name === own) return undefined
    const stop = new AbortController()
    const timer = setTimeout(() => {
      const rows = [{ url: 'https://example.com/', custom: name, domain }]
      const ask = async () => {
        const path = '/api/urls/bulk?op=create&dryRun=true'
        const [row] = (await request<BulkAnswer>('POST', path, { rows }, stop.signal)).rows
        const problem = row?.error !== 1 || row.field === 'domain' ? undefined : await told(row)
        if (!stop.signal.aborted) setFound({ name, problem: problem?.words })
      }
      ask().catch(() => {})
    }, pause)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [name, domain])
  return found
}

/** The short address: its host and its name. */
export const AliasField = ({ draft, set, error, own }: FormProps & { readonly own: string | undefined }) => {
  const texts = t().editor
  const domains = useLoad<DomainList>('/api/domains?limit=1000').data?.data.domains ?? []
  const found = useAvailability(draft, own)
  const host = withoutScheme(draft.domain || service.baseUrl)
  const good = found && found.problem === undefined ? fill(texts.free, { name: `${host}/${found.name}` }) : undefined
  return (
    <Field
      label={texts.short}
      hint={own === undefined ? texts.random : draft.custom.trim() === own ? undefined : texts.keepsOld}
      good={good}
      problem={problemOf(error, 'custom', 'domain') ?? found?.problem}
    >
      {(control) => (
        <div class="joined">
          <label class="visually-hidden" for={`${control.id}-domain`}>
            {texts.domain}
          </label>
          <select
            class="input"
            id={`${control.id}-domain`}
            value={withoutScheme(draft.domain)}
            onChange={(event) => set({ domain: event.currentTarget.value })}
          >
            <option value="">{shortHost}/</option>
            {domains.map(({ id, domain }) => (
              <option key={id} value={withoutScheme(domain)}>
                {withoutScheme(domain)}/
              </option>
            ))}
          </select>
          <input
            {...control}
            class="input"
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            maxLength={64}
            value={draft.custom}
            onInput={(event) => set({ custom: event.currentTarget.value })}
          />
        </div>
      )}
    </Field>
  )
}
