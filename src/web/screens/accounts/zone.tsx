import type { Updated } from '../../../http/api/contract.ts'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { say } from '../../core/toasts.ts'
import { SelectField } from '../../parts/field.tsx'

const change = async (timezone: string) => {
  const { message } = await request<Updated>('PUT', '/api/account/update', { timezone })
  say(message)
}

/** The zones that the browser knows, with the one of the account. */
const zones = (current: string) =>
  [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])].toSorted().map((name) => [name, name] as const)

/** Chooses whose times and days the dashboard shows. */
export const Zone = ({ current }: { readonly current: string }) => {
  const { run, problem } = useForm()
  return (
    <SelectField
      label={t().account.zone}
      hint={t().account.zoneHint}
      options={zones(current)}
      value={current}
      onValue={(timezone) => void run(() => change(timezone))}
      problem={problem('timezone') ?? problem()}
    />
  )
}
