import type { OverlayList } from '../../../../http/pages/contract/overlay.ts'
import type { PixelList } from '../../../../http/pages/contract/pixel.ts'
import type { SplashList } from '../../../../http/pages/contract/splash.ts'
import { useLoad } from '../../../core/load.ts'
import { problemOf } from '../../../core/form.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { IconButton } from '../../../parts/button.tsx'
import { Problem, SelectField, Switch } from '../../../parts/field.tsx'
import { Fold, type FormProps } from './form.tsx'

const Parameters = ({ draft, set, error }: FormProps) => {
  const texts = t().editor
  const { parameters } = draft
  const problem = problemOf(error, 'parameters')
  const replace = (at: number, changes: object) =>
    set({ parameters: parameters.map((one, n) => (n === at ? { ...one, ...changes } : one)) })
  const input = (n: number, name: 'name' | 'value', label: string) => (
    <input
      class="input"
      aria-label={fill(label, { n: n + 1 })}
      placeholder={name === 'name' ? 'utm_source' : 'newsletter'}
      dir="auto"
      value={parameters[n]?.[name] ?? ''}
      onInput={(event) => replace(n, { [name]: event.currentTarget.value })}
    />
  )
  return (
    <fieldset class="field">
      <legend>{texts.parameters}</legend>
      <p class="hint">{texts.parametersHint}</p>
      <ol class="pairs">
        {parameters.map((_, n) => (
          <li key={n}>
            {input(n, 'name', texts.parameterName)}
            {input(n, 'value', texts.parameterValue)}
            <IconButton
              icon="close"
              label={fill(texts.removeParameter, { n: n + 1 })}
              onClick={() => set({ parameters: parameters.filter((__, at) => at !== n) })}
            />
          </li>
        ))}
      </ol>
      {problem !== undefined && <Problem>{problem}</Problem>}
      <div>
        <button
          class="text-button"
          type="button"
          onClick={() => set({ parameters: [...parameters, { name: '', value: '' }] })}
        >
          {texts.addParameter}
        </button>
      </div>
    </fieldset>
  )
}

/** How visitors are redirected, and what goes along with them. */
export const RedirectForm = (props: FormProps) => {
  const { draft, set, error } = props
  const texts = t().editor
  const splashes = useLoad<SplashList>('/api/splash?limit=1000').data?.data.splash ?? []
  const overlays = useLoad<OverlayList>('/api/overlay?limit=1000').data?.data.cta ?? []
  const pixels = useLoad<PixelList>('/api/pixels?limit=1000').data?.data.pixels ?? []
  const types: readonly (readonly [string, string])[] = [
    ...Object.entries(texts.types),
    ...splashes.map(({ id, name }) => [`splash-${id}`, fill(texts.splashNamed, { name })] as const),
    ...overlays.map(({ id, name }) => [`overlay-${id}`, fill(texts.overlay, { name })] as const),
  ]
  const known = types.some(([value]) => value === draft.type)
  const summary = types.find(([value]) => value === draft.type)?.[1] ?? draft.type
  return (
    <Fold {...props} group="redirect" title={texts.redirect} summary={summary}>
      <SelectField
        label={texts.type}
        value={draft.type}
        onValue={(type) => set({ type })}
        options={known ? types : [...types, [draft.type, draft.type]]}
        problem={problemOf(error, 'type')}
      />
      <Parameters {...props} />
      <Switch label={texts.forward} value={draft.forward !== false} onValue={(forward) => set({ forward })} />
      {draft.forward !== false && (
        <Switch
          label={texts.forwardPath}
          value={draft.forward === 'path'}
          onValue={(isPath) => set({ forward: isPath ? 'path' : true })}
        />
      )}
      {pixels.length > 0 && (
        <fieldset class="field">
          <legend>{texts.pixels}</legend>
          {pixels.map(({ id, name }) => (
            <Switch
              key={id}
              label={name}
              value={draft.pixels.includes(id)}
              onValue={(on) => set({ pixels: on ? [...draft.pixels, id] : draft.pixels.filter((one) => one !== id) })}
            />
          ))}
        </fieldset>
      )}
    </Fold>
  )
}
