import type { StatisticsRow } from '../../../http/statistics/contract/series.ts'
import { go } from '../../core/router.ts'
import { fill, t } from '../../core/texts.ts'
import { Icon } from '../../parts/icon.tsx'
import { type Dimension, dimensions, filterOf, isFiltered, nameOf, toggled, withoutFilters } from './filters.ts'

/** choices of one dimension in the menu */
const most = 15

const classes = ['human', 'bot', 'preview', 'prefetch', 'assistant'].map((value) => ({ value, name: value, count: 0 }))

/** What is filtered by, each removable, and a menu with what could be. */
export const Chips = ({ by }: { readonly by: Readonly<Record<string, readonly StatisticsRow[]>> }) => {
  const texts = t().stats
  const choices = (name: Dimension) =>
    (name === 'class' ? classes : (by[name] ?? []).slice(0, most)).filter(
      ({ value }) => !filterOf(name).includes(value),
    )
  return (
    <div class="chips filters">
      {dimensions.flatMap((name) =>
        filterOf(name).map((value) => (
          <span key={`${name} ${value}`} class="chip">
            {texts.filters[name]}
            <b dir="auto">{nameOf(name, value)}</b>
            <button
              type="button"
              aria-label={fill(t().filters.remove, { name: texts.filters[name], value: nameOf(name, value) })}
              onClick={() => go(toggled(name, value))}
            >
              <Icon name="close" />
            </button>
          </span>
        )),
      )}
      <select
        class="chip add"
        aria-label={t().filters.add}
        value=""
        onChange={(event) => {
          const [name = '', ...value] = event.currentTarget.value.split('=')
          event.currentTarget.value = ''
          go(toggled(name as Dimension, value.join('=')))
        }}
      >
        <option value="">{t().filters.add}</option>
        {dimensions
          .filter((name) => choices(name).length > 0)
          .map((name) => (
            <optgroup key={name} label={texts.filters[name]}>
              {choices(name).map(({ value, name: label }) => (
                <option key={value} value={`${name}=${value}`}>
                  {nameOf(name, value, label)}
                </option>
              ))}
            </optgroup>
          ))}
      </select>
      {isFiltered() ? (
        <a class="text-button small" href={withoutFilters()}>
          {t().filters.clear}
        </a>
      ) : (
        <span class="quiet small">{texts.orRow}</span>
      )}
    </div>
  )
}
