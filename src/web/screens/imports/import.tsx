import { useEffect, useState } from 'preact/hooks'
import type { FoundImport, ImportAccepted, ImportList } from '../../../http/imports/contract.ts'
import { ApiError, get, request } from '../../core/api.ts'
import { at, go, withQuery } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { figure } from '../../core/texts.ts'
import { sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Field, SelectField } from '../../parts/field.tsx'
import { type Column, dateColumn, Listing, useList } from '../../parts/listing.tsx'
import { Head, Section } from '../../parts/section.tsx'
import { isActive, Outcome, State } from './outcome.tsx'

type Details = FoundImport['details']
type Row = ImportList['data']['imports'][number]

/** ms between two looks at what runs in the background */
const interval = 1000
/** Follows an import until its work has ended. */
const useFollowed = (id: string | undefined, tries: number): Details | undefined => {
  const [details, setDetails] = useState<Details>()
  useEffect(() => {
    setDetails(undefined)
    if (id === undefined) return undefined
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      const found = await get<FoundImport>(`/api/import/${id}`, stop.signal)
      setDetails(found.details)
      if (isActive(found.details.state)) timer = setTimeout(follow, interval)
    }
    const follow = () =>
      void look().catch((error: unknown) => {
        if (!stop.signal.aborted) sayProblem(error)
      })
    follow()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [id, tries])
  return details
}

/** Sends a file, and shows what would become of it. */
const FileForm = ({ onSent }: { readonly onSent: (id: string) => void }) => {
  const [file, setFile] = useState<File>()
  const [conflict, setConflict] = useState('skip')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const texts = t().imports
  const send = () => {
    if (!file) return
    setBusy(true)
    setProblem(undefined)
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
    const query = new URLSearchParams({ dryRun: 'true', conflict, timezone: zone, name: file.name.slice(-200) })
    void request<ImportAccepted>('POST', `/api/import?${query.toString()}`, file)
      .then(
        ({ id }) => onSent(id),
        (error: unknown) => setProblem(error instanceof ApiError ? error.message : String(error)),
      )
      .finally(() => setBusy(false))
  }
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Field label={texts.file} hint={texts.fileHint} problem={problem}>
        {(control) => (
          <input
            {...control}
            class="input"
            type="file"
            required
            accept=".csv,.tsv,.json,.ndjson,.sql,.html,.gz,.tar,.txt"
            onChange={(event) => setFile(event.currentTarget.files?.[0])}
          />
        )}
      </Field>
      <SelectField
        label={texts.conflict}
        hint={texts.conflictHint}
        value={conflict}
        onValue={setConflict}
        options={(['skip', 'rename', 'fail'] as const).map((way) => [way, texts.ways[way]])}
      />
      <span>
        <Button kind="primary" type="submit" busy={busy}>
          {texts.check}
        </Button>
      </span>
    </form>
  )
}

const stateOf = ({ finished, undone }: Row) => (undone ? 'undone' : finished ? 'done' : 'running')

const columns = (): readonly Column<Row>[] => [
  {
    name: t().imports.source,
    cell: ({ id, format }) => (
      <a class="name cut" href={withQuery({ id })}>
        {format || t().imports.title}
      </a>
    ),
  },
  { name: t().imports.links, kind: 'num', cell: ({ links }) => figure(links) },
  { name: t().resources.state, kind: 'state', cell: (row) => <State state={stateOf(row)} /> },
  dateColumn(t().resources.created, ({ date }) => date),
]

/** Links of other services: from a file, first as a dry run. */
export const ImportScreen = () => {
  const [tries, setTries] = useState(0)
  const id = at.value.query.get('id') ?? undefined
  const details = useFollowed(id, tries)
  const { list, rows } = useList<ImportList>('/api/imports', 'imports')
  const texts = t().imports
  const next = () => {
    setTries((n) => n + 1)
    list.reload()
  }
  return (
    <>
      <Head title={texts.title} text={texts.text} />
      {details ? (
        <Outcome details={details} onNext={next} />
      ) : (
        <FileForm onSent={(sent) => go(withQuery({ id: sent }))} />
      )}
      {details && !isActive(details.state) && (
        <p>
          <a href={withQuery({ id: '' })}>{texts.another}</a>
        </p>
      )}
      <Section title={texts.before}>
        <Listing
          title={texts.before}
          list={list}
          rows={rows}
          keyOf={(row) => row.id}
          none={{ title: texts.none, text: texts.noneText }}
          columns={columns()}
        />
      </Section>
    </>
  )
}
