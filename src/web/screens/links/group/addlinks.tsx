import { useState } from 'preact/hooks'
import { withoutScheme } from '../../../core/address.ts'
import type { LinkList } from '../../../../http/links/contract/link.ts'
import { changeLinks } from '../../../core/bulk.ts'
import { useForm } from '../../../core/form.ts'
import { useLoad } from '../../../core/load.ts'
import { t } from '../../../core/alltexts.ts'
import { counted, fill } from '../../../core/texts.ts'
import { say } from '../../../core/toasts.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Problem } from '../../../parts/field.tsx'
import { SearchBox } from '../../../parts/search.tsx'
import { Failed, Skeleton } from '../../../parts/states.tsx'

interface AddLinksProps {
  /** the field of the links to set to the id */
  readonly to: { readonly field: 'channel' | 'campaign'; readonly id: number }
  readonly name: string
  readonly onClose: () => void
}
const shown = 20
/** Finds links, and adds the ticked ones to a channel or a campaign. Ticks stay while the user searches for more. */
export const AddLinks = ({ to, name, onClose }: AddLinksProps) => {
  const [q, setQ] = useState('')
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set())
  const links = useLoad<LinkList>(`/api/urls?limit=${shown}&q=${encodeURIComponent(q)}`)
  const form = useForm()
  const texts = t().resources
  const pick = (id: number, isPicked: boolean) =>
    setPicked((before) => new Set(isPicked ? [...before, id] : [...before].filter((one) => one !== id)))
  const add = async () => {
    await changeLinks(
      'update',
      [...picked].map((id) => ({ id, [to.field]: to.id })),
    )
    say(fill(counted(texts.added, picked.size), { name }))
    onClose()
  }
  return (
    <Dialog title={fill(texts.addLinksTo, { name })} onClose={onClose}>
      <div class="body">
        <SearchBox label={t().links.searchFor} value={q} onValue={setQ} />
        {links.error && <Failed error={links.error} reload={links.reload} />}
        {!links.data && !links.error && <Skeleton rows={6} label={t().links.title} />}
        {links.data && links.data.data.urls.length === 0 && <p class="quiet">{t().links.noMatch}</p>}
        <ul class="pick-list">
          {links.data?.data.urls.map((link) => (
            <li key={link.id}>
              <label>
                <input
                  class="check"
                  type="checkbox"
                  checked={picked.has(link.id)}
                  onChange={(event) => pick(link.id, event.currentTarget.checked)}
                />
                <span>
                  <span class="name cut">{withoutScheme(link.shorturl)}</span>
                  <span class="note cut" dir="auto">
                    {link.title || withoutScheme(link.longurl)}
                  </span>
                </span>
              </label>
            </li>
          ))}
        </ul>
        {links.data && links.data.data.result > shown && <p class="hint">{texts.moreMatch}</p>}
        {form.error && <Problem>{form.error.message}</Problem>}
      </div>
      <footer>
        <Button onClick={onClose}>{t().actions.cancel}</Button>
        <Button kind="primary" busy={form.busy} disabled={picked.size === 0} onClick={() => void form.run(add)}>
          {counted(texts.addCount, picked.size)}
        </Button>
      </footer>
    </Dialog>
  )
}
