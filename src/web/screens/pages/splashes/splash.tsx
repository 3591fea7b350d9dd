import type { FoundSplash } from '../../../../http/pages/contract/splash.ts'
import { useLoad } from '../../../core/load.ts'
import { href, type ScreenProps } from '../../../core/router.ts'
import { shortHost } from '../../../core/session.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { ColorField, isColor } from '../../../parts/color.tsx'
import { Editor, useEditor } from '../../../parts/editor.tsx'
import { TextField } from '../../../parts/field.tsx'
import { Phone, PicturePlace, hostIn } from '../../../parts/phone.tsx'
import { NotFound, Section } from '../../../parts/section.tsx'
import { Failed, Skeleton } from '../../../parts/states.tsx'

/** A splash page as its form has it. */
type Draft = Omit<FoundSplash['details'], 'id' | 'date' | 'revision' | 'counter'> & { readonly counter: string }

const blank: Draft = {
  name: '',
  title: '',
  message: '',
  logo: '',
  banner: '',
  label: '',
  product: '',
  productLabel: '',
  color: '',
  counter: '10',
}
const fields = Object.keys(blank)

const draftOf = ({ details }: FoundSplash): Draft => ({ ...details, counter: String(details.counter) })
const bodyOf = ({ counter, ...rest }: Draft) => ({ ...rest, counter: counter === '' ? null : Number(counter) })

/** The page as visitors see it. Its destination is an example: each link has its own. */
const Preview = ({ draft }: { readonly draft: Draft }) => {
  const { splashes } = t()
  const { visitor } = splashes
  const seconds = Math.min(60, Math.max(0, Number(draft.counter) || 0))
  return (
    <Phone label={splashes.one} class="splash-preview" color={isColor(draft.color) ? draft.color : undefined}>
      <div class="p-top">
        {draft.logo && <PicturePlace address={draft.logo} class="plate" />}
        <bdi class="mono">{shortHost}/spring</bdi>
      </div>
      <div class="p-main">
        {draft.banner && <PicturePlace address={draft.banner} class="banner" />}
        <p class="p-title" dir="auto">
          {draft.title || visitor.title}
        </p>
        {draft.message && (
          <p class="owner-text" dir="auto">
            {draft.message}
          </p>
        )}
        <p class="p-actions">
          <span class="p-button go">
            <span dir="auto">{draft.label || visitor.go}</span>
            <small>shop.example.com</small>
          </span>
          {draft.product && (
            <span class="p-button">
              <span dir="auto">{draft.productLabel || visitor.product}</span>
              <small>{hostIn(draft.product)}</small>
            </span>
          )}
        </p>
        <p>
          {visitor.leadsTo} <b>shop.example.com</b>
        </p>
        {seconds > 0 && <p class="p-count">{fill(visitor.inSeconds, { n: seconds })}</p>}
      </div>
    </Phone>
  )
}

const Form = ({ id, initial }: { readonly id: number | undefined; readonly initial: Draft }) => {
  const {
    draft,
    stored,
    field: fieldOf,
    editor,
  } = useEditor({ kind: 'splash', id, initial, bodyOf, screens: '/splash' })
  const { splashes, overlays, resources, editors } = t()
  const field = (
    name: keyof Draft,
    label: string,
    more: { hint?: string; rows?: number; placeholder?: string } = {},
  ) => <TextField label={label} {...fieldOf(name)} {...more} />
  return (
    <Editor
      title={id === undefined ? splashes.create : stored.name}
      text={id === undefined ? splashes.newText : splashes.use}
      {...editor}
      fields={fields}
      preview={<Preview draft={draft} />}
    >
      <Section title={editors.content}>
        <div class="fields wide-fields">
          {field('name', resources.name, { hint: editors.nameHint })}
          {field('title', editors.title, { placeholder: splashes.visitor.title })}
          {field('message', overlays.fields.message, { rows: 3 })}
          <div class="two">
            {field('label', splashes.label, { placeholder: splashes.visitor.go })}
            {field('counter', splashes.counter, { hint: splashes.counterHint })}
          </div>
        </div>
      </Section>
      <Section title={editors.look}>
        <div class="fields wide-fields">
          <ColorField label={resources.color} {...fieldOf('color')} none="#0a6349" hint={editors.colorHint} />
          {field('logo', editors.logo, { placeholder: 'https://', hint: editors.pictureHint })}
          {field('banner', splashes.banner, { placeholder: 'https://' })}
        </div>
      </Section>
      <Section title={splashes.second}>
        <div class="fields wide-fields">
          {field('product', splashes.product, { placeholder: 'https://', hint: splashes.productHint })}
          {field('productLabel', splashes.productLabel, { placeholder: splashes.visitor.product })}
        </div>
      </Section>
    </Editor>
  )
}

const Existing = ({ id }: { readonly id: number }) => {
  const found = useLoad<FoundSplash>(`/api/splash/${id}`)
  const { splashes, link } = t()
  if (found.error?.status === 404)
    return <NotFound title={splashes.notFound} text={link.notFoundText} href={href('/splash')} name={splashes.title} />
  if (found.data) return <Form id={id} initial={draftOf(found.data)} />
  return found.error ? (
    <Failed error={found.error} reload={found.reload} />
  ) : (
    <Skeleton rows={10} label={splashes.one} />
  )
}

/** A splash page: its fields, and what visitors see. */
export const SplashScreen = ({ params }: ScreenProps) => {
  const { id } = params
  return id === undefined ? <Form id={undefined} initial={blank} /> : <Existing id={Number(id)} />
}
