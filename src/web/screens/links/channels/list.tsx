import type { ChannelDetails, ChannelList } from '../../../../http/links/contract/channel.ts'
import { useDraft } from '../../../core/draft.ts'
import { href } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { ColorField } from '../../../parts/color.tsx'
import { Switch, TextField } from '../../../parts/field.tsx'
import { Named } from '../../../parts/listing.tsx'
import { OwnedList } from '../../../parts/ownedlist.tsx'
import { ResourceForm } from '../../../parts/resourceform.tsx'
import { Swatch } from '../../../parts/swatch.tsx'

interface ChannelFormProps {
  readonly channel?: ChannelDetails | undefined
  readonly onClose: () => void
}

/** The fields of a channel, which is made or changed. */
export const ChannelForm = ({ channel, onClose }: ChannelFormProps) => {
  const form = useDraft({
    name: channel?.name ?? '',
    description: channel?.description ?? '',
    color: channel?.color ?? '#3b82f6',
    starred: channel?.starred ?? false,
  })
  const { channels, resources } = t()
  return (
    <ResourceForm
      one="/api/channel"
      id={channel?.id}
      texts={channels}
      form={form}
      screens="/channels"
      onClose={onClose}
    >
      <TextField label={resources.name} {...form.field('name')} required autofocus />
      <TextField label={resources.description} {...form.field('description')} rows={2} />
      <ColorField label={resources.color} {...form.field('color')} />
      <Switch label={channels.starred} {...form.field('starred')} />
    </ResourceForm>
  )
}

/** All channels: where links, QR codes and bio pages are shared. */
export const Channels = () => (
  <OwnedList<ChannelList>
    path="/api/channels"
    field="channels"
    one="/api/channel"
    texts={t().channels}
    nameOf={({ name }) => name}
    make={(onClose, channel) => <ChannelForm channel={channel} onClose={onClose} />}
    changes
    columns={[
      {
        name: t().resources.name,
        cell: ({ id, name, description, color, starred }) => (
          <div class="with-swatch">
            <Swatch color={color} starred={starred} />
            <div>
              <Named name={name} to={href(`/channels/${id}`)} note={description} />
            </div>
          </div>
        ),
      },
    ]}
  />
)
