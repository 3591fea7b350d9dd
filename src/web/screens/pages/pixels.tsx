import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { t } from '../../core/alltexts.ts'
import { dateOf, moment } from '../../core/time.ts'
import { SelectField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { HistoryLink } from '../../parts/historylink.tsx'
import { Named } from '../../parts/listing.tsx'
import { OwnedList } from '../../parts/ownedlist.tsx'

interface Pixel {
  readonly id: number
  readonly type: string
  readonly name: string
  readonly tag: string
  readonly date: string
}

/** The networks, by the names of the API. Their own names are not translated. */
const networks: Readonly<Record<string, string>> = {
  gapixel: 'Google Analytics',
  gtmpixel: 'Google Tag Manager',
  adwordspixel: 'Google Ads',
  fbpixel: 'Meta',
  linkedinpixel: 'LinkedIn',
  twitterpixel: 'X (Twitter)',
  adrollpixel: 'AdRoll',
  quorapixel: 'Quora',
  pinterest: 'Pinterest',
  bing: 'Microsoft Advertising',
  snapchat: 'Snapchat',
  reddit: 'Reddit',
  tiktok: 'TikTok',
}

const PixelForm = ({ pixel, onClose }: { readonly pixel: Pixel | undefined; readonly onClose: () => void }) => {
  const [type, setType] = useState(pixel?.type ?? 'gapixel')
  const [name, setName] = useState(pixel?.name ?? '')
  const [tag, setTag] = useState(pixel?.tag ?? '')
  const form = useForm()
  const texts = t().pixels
  const submit = async () => {
    if (pixel) await request('PUT', `/api/pixel/${pixel.id}/update`, { name, tag })
    else await request('POST', '/api/pixel/add', { type, name, tag })
    onClose()
  }
  return (
    <FormDialog
      title={pixel ? texts.edit : texts.create}
      action={pixel ? t().actions.save : texts.create}
      form={form}
      fields={['type', 'name', 'tag']}
      onSubmit={submit}
      onClose={onClose}
    >
      {!pixel && (
        <SelectField
          label={texts.network}
          value={type}
          onValue={setType}
          options={Object.entries(networks)}
          problem={form.problem('type')}
        />
      )}
      <TextField
        label={t().resources.name}
        value={name}
        onValue={setName}
        required
        autofocus
        problem={form.problem('name')}
      />
      <TextField
        label={texts.tag}
        value={tag}
        onValue={setTag}
        required
        hint={texts.tagHint}
        problem={form.problem('tag')}
      />
    </FormDialog>
  )
}

/** All tracking pixels: what other networks measure on the way. */
export const Pixels = () => (
  <OwnedList<Pixel>
    path="/api/pixels"
    field="pixels"
    one="/api/pixel"
    texts={t().pixels}
    nameOf={({ name }) => name}
    make={(onClose, pixel) => <PixelForm pixel={pixel} onClose={onClose} />}
    changes
    tools={({ id, name }) => <HistoryLink of="pixel" id={id} name={name} />}
    columns={[
      {
        name: t().resources.name,
        cell: ({ name, type, tag }) => <Named name={name} note={`${networks[type] ?? type} · ${tag}`} />,
      },
      { name: t().resources.created, kind: 'wide', cell: ({ date }) => dateOf(moment(date)) },
    ]}
  />
)
