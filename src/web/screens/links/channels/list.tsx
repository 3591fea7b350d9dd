import { useState } from 'preact/hooks'
import { request } from '../../../core/api.ts'
import { useForm } from '../../../core/form.ts'
import { go, href } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { ColorField } from '../../../parts/color.tsx'
import { Switch, TextField } from '../../../parts/field.tsx'
import { FormDialog } from '../../../parts/formdialog.tsx'
import { Named } from '../../../parts/listing.tsx'
import { OwnedList } from '../../../parts/ownedlist.tsx'
import { Swatch } from '../../../parts/swatch.tsx'

export interface Channel {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly color: string
  readonly starred: boolean
}

interface ChannelFormProps {
  readonly channel?: Channel | undefined
  readonly onClose: () => void
}

/** The fields of a channel, which is made or changed. */
export const ChannelForm = ({ channel, onClose }: ChannelFormProps) => {
  const [name, setName] = useState(channel?.name ?? '')
  const [description, setDescription] = useState(channel?.description ?? '')
  const [color, setColor] = useState(channel?.color ?? '#3b82f6')
  const [starred, setStarred] = useState(channel?.starred ?? false)
  const form = useForm()
  const texts = t().channels
  const submit = async () => {
    const body = { name, description, color, starred }
    if (channel) await request('PUT', `/api/channel/${channel.id}/update`, body)
    else {
      const { id } = await request<{ readonly id: number }>('POST', '/api/channel/add', body)
      go(href(`/channels/${id}`))
    }
    onClose()
  }
  return (
    <FormDialog
      title={channel ? texts.edit : texts.create}
      action={channel ? t().actions.save : texts.create}
      form={form}
      fields={['name', 'description', 'color']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={t().resources.name}
        value={name}
        onValue={setName}
        required
        autofocus
        problem={form.problem('name')}
      />
      <TextField
        label={t().resources.description}
        value={description}
        onValue={setDescription}
        rows={2}
        problem={form.problem('description')}
      />
      <ColorField label={t().resources.color} value={color} onValue={setColor} problem={form.problem('color')} />
      <Switch label={texts.starred} checked={starred} onValue={setStarred} />
    </FormDialog>
  )
}

/** All channels: where links, QR codes and bio pages are shared. */
export const Channels = () => (
  <OwnedList<Channel>
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
