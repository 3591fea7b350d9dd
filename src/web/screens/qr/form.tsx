import type { ApiError } from '../../core/api.ts'
import { problemOf } from '../../core/form.ts'
import { t } from '../../core/alltexts.ts'
import { Button } from '../../parts/button.tsx'
import { ColorField, isColor } from '../../parts/color.tsx'
import { Field, Problem, SelectField, TextField } from '../../parts/field.tsx'
import { Section } from '../../parts/section.tsx'
import { type Design, fieldsOf, types } from './content.ts'
import { Gauge } from './preview.tsx'

export interface DesignProps {
  readonly design: Design
  readonly set: (changes: Partial<Design>) => void
  readonly error: ApiError | undefined
  /** whether the type can be chosen: that of a code which exists stays */
  readonly isNew: boolean
}

const encryptions = ['WPA', 'WEP', 'nopass'] as const

/** What is in the code. */
export const Content = ({ design, set, error, isNew }: DesignProps) => {
  const texts = t().qr
  const problem = problemOf(error, 'data')
  const setPart = (name: string, value: string) => set({ data: { ...design.data, [name]: value } })
  return (
    <Section title={texts.content}>
      <div class="form-grid">
        {isNew && (
          <SelectField
            label={texts.type}
            value={design.type}
            onValue={(type) => set({ type: type as Design['type'], data: {} })}
            options={types.map((type) => [type, texts.types[type]] as const)}
          />
        )}
        <TextField
          label={texts.name}
          value={design.name}
          onValue={(name) => set({ name })}
          hint={texts.nameHint}
          problem={problemOf(error, 'name')}
        />
        {fieldsOf[design.type].map((name) =>
          name === 'encryption' ? (
            <SelectField
              key={name}
              label={texts.parts.encryption}
              value={design.data[name] ?? 'WPA'}
              onValue={(value) => setPart(name, value)}
              options={encryptions.map((one) => [one, texts.encryptions[one]] as const)}
            />
          ) : (
            <TextField
              key={name}
              label={name === 'text' ? texts.types[design.type] : texts.parts[name as keyof typeof texts.parts]}
              value={design.data[name] ?? ''}
              onValue={(value) => setPart(name, value)}
              {...((name === 'body' || name === 'message' || (name === 'text' && design.type === 'text')) && {
                rows: 3,
              })}
              placeholder={design.type === 'link' ? 'https://' : undefined}
            />
          ),
        )}
      </div>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {design.type === 'link' && <p class="hint">{texts.counted}</p>}
    </Section>
  )
}

/** bytes of a picture that fits into a request */
const mostBytes = 40_000

/** Returns a picture as a small PNG: a request has 64 KiB, and a code shows few of its pixels. */
const smallPicture = async (file: File): Promise<string> => {
  const picture = await createImageBitmap(file)
  for (const side of [256, 160, 96, 64]) {
    const scale = Math.min(1, side / Math.max(picture.width, picture.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(picture.width * scale))
    canvas.height = Math.max(1, Math.round(picture.height * scale))
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
    const url = canvas.toDataURL('image/png')
    if (url.length < mostBytes || side === 64) return url
  }
  return ''
}

const Logo = ({ design, set, error }: DesignProps) => {
  const texts = t().qr
  const choose = (file: File | undefined) => {
    if (file) void smallPicture(file).then((logo) => set({ logo }))
  }
  return (
    <Field label={texts.logo} hint={texts.logoHint} problem={problemOf(error, 'logo')}>
      {(control) => (
        <div class="chips">
          <input
            {...control}
            type="file"
            accept="image/png,image/jpeg,image/webp,image/svg+xml"
            onChange={(event) => choose(event.currentTarget.files?.[0])}
          />
          {design.logo !== null && <Button onClick={() => set({ logo: null })}>{texts.removeLogo}</Button>}
        </div>
      )}
    </Field>
  )
}

/** What the code looks like. */
export const Colors = (props: DesignProps) => {
  const { design, set, error } = props
  const texts = t().qr
  const { foreground, background } = design
  return (
    <Section
      title={texts.look}
      tools={
        <button
          class="text-button small"
          type="button"
          onClick={() => set({ foreground: background, background: foreground })}
        >
          {texts.swap}
        </button>
      }
    >
      <div class="form-grid">
        <ColorField
          label={texts.foreground}
          value={foreground}
          onValue={(value) => set({ foreground: value })}
          problem={problemOf(error, 'foreground')}
        />
        <ColorField
          label={texts.background}
          value={background}
          onValue={(value) => set({ background: value })}
          problem={problemOf(error, 'background')}
        />
        {isColor(foreground) && isColor(background) && <Gauge foreground={foreground} background={background} />}
        <Logo {...props} />
      </div>
    </Section>
  )
}
