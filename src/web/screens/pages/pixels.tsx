import type { Pixel, PixelList } from '../../../http/pages/contract/pixel.ts'
import { useDraft } from '../../core/draft.ts'
import { t } from '../../core/alltexts.ts'
import { SelectField, TextField } from '../../parts/field.tsx'
import { HistoryLink } from '../../parts/historylink.tsx'
import { dateColumn, Named } from '../../parts/listing.tsx'
import { OwnedList } from '../../parts/ownedlist.tsx'
import { ResourceForm } from '../../parts/resourceform.tsx'

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
  const form = useDraft({ type: pixel?.type ?? 'gapixel', name: pixel?.name ?? '', tag: pixel?.tag ?? '' })
  const texts = t().pixels
  const { type: _type, ...changeable } = form.draft
  return (
    <ResourceForm
      one="/api/pixel"
      id={pixel?.id}
      texts={texts}
      form={form}
      body={pixel ? changeable : form.draft}
      onClose={onClose}
    >
      {!pixel && <SelectField label={texts.network} {...form.field('type')} options={Object.entries(networks)} />}
      <TextField label={t().resources.name} {...form.field('name')} required autofocus />
      <TextField label={texts.tag} {...form.field('tag')} required hint={texts.tagHint} />
    </ResourceForm>
  )
}

/** All tracking pixels: what other networks measure on the way. */
export const Pixels = () => (
  <OwnedList<PixelList>
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
      dateColumn(t().resources.created, ({ date }) => date),
    ]}
  />
)
