import { t } from '../../../core/alltexts.ts'
import { isColor } from '../../../parts/color.tsx'
import { hostIn, Phone, PicturePlace } from '../../../parts/phone.tsx'
import { answersOf, type Draft } from './draft.ts'

/** A field of the form that visitors fill in. */
const Blank = ({ label, tall }: { readonly label: string; readonly tall?: boolean }) => (
  <span class="p-field">
    <span>{label}</span>
    <span class={`p-input${tall ? ' tall' : ''}`} />
  </span>
)

const Inputs = ({ draft }: { readonly draft: Draft }) => {
  const { visitor } = t().overlays
  if (draft.type === 'poll')
    return (
      <>
        <b dir="auto">{draft.question || visitor.question}</b>
        <ul class="p-options">
          {draft.options.map((option, n) => (
            <li key={n} dir="auto">
              {option || '…'}
            </li>
          ))}
        </ul>
      </>
    )
  return (
    <>
      {(answersOf[draft.type] ?? []).map((name) => (
        <Blank key={name} label={visitor.fields[name]} tall={name === 'message'} />
      ))}
    </>
  )
}

/** The overlay as visitors see it on a phone, opened, above a page. */
export const Preview = ({ draft }: { readonly draft: Draft }) => {
  const { overlays } = t()
  const { visitor } = overlays
  const { type, image, message, link, coupon } = draft
  const isForm = answersOf[type] !== undefined
  const label = draft.label || visitor.actions[type]
  return (
    <Phone label={overlays.one} class="overlay-preview" color={isColor(draft.color) ? draft.color : '#0a6349'}>
      <div class="p-bar">
        <b>shop.example.com</b>
      </div>
      <div class="p-stage" aria-hidden="true">
        <span />
        <span />
        <span />
        <span />
      </div>
      <div class="p-overlay">
        <div class="p-overlay-head">
          <b dir="auto">{draft.name || overlays.one}</b>
          <span class="quiet small">{t().actions.close}</span>
        </div>
        {image && (type === 'image' || type === 'message') && <PicturePlace address={image} class="banner" />}
        {type === 'coupon' && <code class="p-coupon">{coupon || '…'}</code>}
        {message && type !== 'poll' && (
          <p class="owner-text" dir="auto">
            {message}
          </p>
        )}
        <Inputs draft={draft} />
        {(isForm || (link !== '' && label !== '')) && (
          <span class="p-button go">
            <span dir="auto">{label}</span>
            {!isForm && <small>{hostIn(link)}</small>}
          </span>
        )}
      </div>
    </Phone>
  )
}
