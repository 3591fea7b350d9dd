import { useEffect, useState } from 'preact/hooks'
import type { HistoryEntry, HistoryEntryList, Restored } from '../../../http/history/contract/history.ts'
import { ApiError, get, request } from '../../core/api.ts'
import { type Told, told } from '../../core/messages.ts'
import { now, past } from '../../core/past.ts'
import { at, go } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/field.tsx'
import { Skeleton } from '../../parts/states.tsx'
import { filled, When } from '../../parts/when.tsx'
import { Diff } from './diff.tsx'
import { fieldName, isDeletion, kindName } from './words.ts'

interface Preview extends Pick<Restored, 'changes'> {
  readonly notRestored: readonly Told[]
  /** the newest revision now, to which undo goes back */
  readonly before: number
  readonly wasDeleted: boolean
}

const useRestore = (entry: HistoryEntry, onClose: () => void) => {
  const { resource, revision } = entry
  const base = `/api/${resource.type}/${resource.id}`
  const wanted = isDeletion(entry) ? {} : { revision }
  const what = `${kindName(resource.type)} ${resource.id}`
  const [preview, setPreview] = useState<Preview | undefined>(undefined)
  const [error, setError] = useState<ApiError | undefined>(undefined)
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    const own = new RegExp(`^${/^[A-Z][a-z]+/.exec(entry.type)?.[0] ?? ''}`)
    Promise.all([
      request<Restored>('POST', `${base}/restore`, { ...wanted, dryRun: true }),
      get<HistoryEntryList>(`${base}/history?limit=20`),
    ]).then(
      async ([would, { data }]) => {
        const newest = data.events.find(({ type }) => own.test(type))
        const notRestored = await Promise.all(would.notRestored.map((one) => told({ ...one, message: one.reason })))
        setPreview({
          ...would,
          notRestored,
          before: newest?.revision ?? 0,
          wasDeleted: newest !== undefined && isDeletion(newest),
        })
      },
      (problem: unknown) => problem instanceof ApiError && setError(problem),
    )
  }, [])
  const undo = async ({ before, wasDeleted }: Preview) => {
    if (wasDeleted) await request('DELETE', `${base}/delete`)
    else await request('POST', `${base}/restore`, { revision: before })
    say(fill(t().restore.undone, { what }))
  }
  const run = async () => {
    if (!preview) return
    setBusy(true)
    try {
      await request('POST', `${base}/restore`, wanted)
      onClose()
      // what was restored is there now
      if (past.value && at.value.path !== '/history') go(now())
      const action = { label: t().actions.undo, run: () => void undo(preview).catch(sayProblem) }
      say(fill(t().restore.done, { what }), { action })
    } catch (problem) {
      if (problem instanceof ApiError) setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return { preview, error, busy, run, what }
}

/** Shows what restoring would change, and does it. It can be undone afterwards. */
export const RestoreDialog = ({ entry, onClose }: { readonly entry: HistoryEntry; readonly onClose: () => void }) => {
  const { preview, error, busy, run, what } = useRestore(entry, onClose)
  const texts = t().restore
  const comesBack = preview?.wasDeleted === true
  const nothing = preview !== undefined && preview.changes.length === 0 && !comesBack
  return (
    <Dialog title={fill(texts.title, { what })} onClose={onClose}>
      <div class="body">
        <p>
          {isDeletion(entry) || comesBack ? texts.back : filled(texts.asOf, { when: <When at={moment(entry.time)} /> })}
        </p>
        {error && <Problem>{error.message}</Problem>}
        {!preview && !error && <Skeleton rows={3} label={texts.checking} />}
        {nothing && <p class="quiet">{texts.nothing}</p>}
        {preview && preview.changes.length > 0 && (
          <section aria-label={texts.wouldChange}>
            <h3 class="label">{texts.wouldChange}</h3>
            {/* the session of a dashboard may read what there was and will be */}
            <Diff
              changes={preview.changes.map(({ field, old = null, new: value = null }) => ({ field, old, new: value }))}
            />
          </section>
        )}
        {preview && preview.notRestored.length > 0 && (
          <section aria-label={texts.notRestored}>
            <h3 class="label">{texts.notRestored}</h3>
            <ul class="hint">
              {preview.notRestored.map(({ field = '', words }) => (
                <li key={field + words}>
                  {fieldName(field)}: {words}
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
      <footer>
        <Button onClick={onClose}>{t().actions.cancel}</Button>
        <Button
          kind="primary"
          writes={false}
          busy={busy}
          disabled={preview === undefined || nothing || error !== undefined}
          onClick={() => void run()}
        >
          {texts.action}
        </Button>
      </footer>
    </Dialog>
  )
}
