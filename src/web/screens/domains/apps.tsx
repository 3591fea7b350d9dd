import { useState } from 'preact/hooks'
import type { DomainDetails } from '../../../http/domains/contract.ts'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { say } from '../../core/toasts.ts'
import { Button, Writable } from '../../parts/button.tsx'
import { Problem, TextField } from '../../parts/field.tsx'
import { Section } from '../../parts/section.tsx'

const written = (apps: readonly unknown[]) => (apps.length === 0 ? '' : JSON.stringify(apps, null, 2))

/** Returns the list that a text has as JSON; empty for an empty text, undefined for any other. */
export const listIn = (text: string): readonly unknown[] | undefined => {
  if (text.trim() === '') return []
  try {
    const found: unknown = JSON.parse(text)
    return Array.isArray(found) ? found : undefined
  } catch {
    return undefined
  }
}

interface ListFieldProps {
  readonly label: string
  readonly file: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly placeholder: string
  readonly problem: string | undefined
}

const ListField = ({ file, value, problem, ...field }: ListFieldProps) => {
  const texts = t().domains
  return (
    <TextField
      {...field}
      value={value}
      rows={value === '' ? 3 : 10}
      hint={fill(texts.appsFile, { file })}
      problem={listIn(value) === undefined ? texts.appsNoList : problem}
    />
  )
}

/** The apps that open the addresses of a domain instead of a browser, in the forms that Apple and Google describe. */
export const Apps = ({ domain: { id, domain, apple, android } }: { readonly domain: DomainDetails }) => {
  const [forApple, setApple] = useState(written(apple.details))
  const [forAndroid, setAndroid] = useState(written(android))
  const form = useForm()
  const texts = t().domains
  const lists = { apple: listIn(forApple), android: listIn(forAndroid) }
  const { field = '', words } = form.error ?? {}
  const [part] = field.split('.')
  const problem = (name: 'apple' | 'android') => (part === name ? `${field}: ${words}` : undefined)
  const save = () =>
    form.run(async () => {
      const body = { apple: { details: lists.apple }, android: lists.android }
      await request('PUT', `/api/domain/${id}/update`, body)
      say(t().resources.stored)
    })
  return (
    <Section title={texts.apps}>
      <form
        class="fields"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (lists.apple && lists.android) void save()
        }}
      >
        <p class="hint">{texts.appsText}</p>
        <Writable>
          <ListField
            label={texts.appsApple}
            file={`${domain}/.well-known/apple-app-site-association`}
            value={forApple}
            onValue={setApple}
            placeholder='[{"appIDs": ["9JA89QQLNQ.com.example.app"], "components": [{"/": "/buy/*"}]}]'
            problem={problem('apple')}
          />
          <ListField
            label={texts.appsAndroid}
            file={`${domain}/.well-known/assetlinks.json`}
            value={forAndroid}
            onValue={setAndroid}
            placeholder='[{"package_name": "com.example.app", "sha256_cert_fingerprints": ["14:6D:…"]}]'
            problem={problem('android')}
          />
        </Writable>
        {part !== 'apple' && part !== 'android' && form.error && <Problem>{words}</Problem>}
        <div>
          <Button type="submit" busy={form.busy}>
            {t().actions.save}
          </Button>
        </div>
      </form>
    </Section>
  )
}
