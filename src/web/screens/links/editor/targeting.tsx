import { useMemo, useState } from 'preact/hooks'
import { withoutScheme } from '../../../core/address.ts'
import { problemOf } from '../../../core/form.ts'
import { t } from '../../../core/alltexts.ts'
import { counted, fill, lang } from '../../../core/texts.ts'
import { IconButton } from '../../../parts/button.tsx'
import { Problem } from '../../../parts/field.tsx'
import { filled } from '../../../parts/when.tsx'
import { Fold, type FormProps } from './form.tsx'
import { choices, decidingRule, kinds, type Rule, type RuleKind, type Visitor } from './rules.ts'

interface RowProps {
  readonly rule: Rule
  readonly n: number
  readonly isHit: boolean
  readonly onRule: (rule: Rule) => void
  readonly onRemove: () => void
}

const RuleRow = ({ rule, n, isHit, onRule, onRemove }: RowProps) => {
  const texts = t().editor
  const options = useMemo(() => choices(rule.kind), [rule.kind, lang.value])
  const known = options.some(([value]) => value === rule.value)
  const named = (text: string) => fill(text, { n })
  return (
    <li class={`rule-row${isHit ? ' hit' : ''}`}>
      <span>{n}</span>
      <div>
        <select
          class="input"
          aria-label={named(texts.kind)}
          value={rule.kind}
          onChange={(event) => onRule({ ...rule, kind: event.currentTarget.value as RuleKind, value: '' })}
        >
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {t().stats.filters[kind]}
            </option>
          ))}
        </select>
        <select
          class="input"
          aria-label={named(texts.value)}
          value={rule.value}
          required
          onChange={(event) => onRule({ ...rule, value: event.currentTarget.value })}
        >
          <option value="" />
          {!known && rule.value !== '' && <option value={rule.value}>{rule.value}</option>}
          {options.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <input
          class="input"
          aria-label={named(texts.target)}
          placeholder="https://"
          inputMode="url"
          required
          dir="auto"
          value={rule.url}
          onInput={(event) => onRule({ ...rule, url: event.currentTarget.value })}
        />
      </div>
      <IconButton icon="close" label={named(texts.removeRule)} onClick={onRemove} />
    </li>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, label: string])[]
  readonly onValue: (value: string) => void
}
const Choice = ({ label, value, options, onValue }: ChoiceProps) => (
  <select aria-label={label} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
    {options.map(([name, text]) => (
      <option key={name} value={name}>
        {text}
      </option>
    ))}
  </select>
)

/** A sentence about a visitor: "A visitor from Germany on an iPhone with Safari reading German goes to …". */
const Tester = ({ draft, visitor, onVisitor }: Pick<FormProps, 'draft'> & TesterProps) => {
  const texts = t().editor
  const hit = decidingRule(draft.rules, visitor)
  const [countries, languages] = useMemo(() => [choices('country'), choices('language')], [lang.value])
  const set = (changes: Partial<Visitor>) => onVisitor({ ...visitor, ...changes })
  const parts = {
    country: (
      <Choice
        label={t().stats.filters.country}
        value={visitor.country}
        options={countries}
        onValue={(country) => set({ country })}
      />
    ),
    device: (
      <Choice
        label={t().stats.filters.device}
        value={visitor.device}
        options={Object.entries(texts.testers)}
        onValue={(device) => set({ device: device as Visitor['device'] })}
      />
    ),
    browser: (
      <Choice
        label={t().stats.filters.browser}
        value={visitor.browser}
        options={choices('browser')}
        onValue={(browser) => set({ browser })}
      />
    ),
    language: (
      <Choice
        label={t().stats.filters.language}
        value={visitor.language}
        options={languages}
        onValue={(language) => set({ language })}
      />
    ),
  }
  const target = hit === undefined ? draft.url : (draft.rules[hit]?.url ?? '')
  const reason =
    hit !== undefined
      ? fill(texts.byRule, { n: hit + 1 })
      : draft.variants.length > 0
        ? texts.byVariants
        : texts.byDefault
  return (
    <p class="tester">
      {filled(texts.tester, parts)}
      <output>
        <strong dir="auto">{withoutScheme(target) || texts.noUrl}</strong> <span class="quiet small">{reason}</span>
      </output>
    </p>
  )
}
interface TesterProps {
  readonly visitor: Visitor
  readonly onVisitor: (visitor: Visitor) => void
}

/** Other destinations by device, browser, country and language, and what they mean for one visitor. */
export const TargetingForm = (props: FormProps) => {
  const { draft, set, error } = props
  const texts = t().editor
  const [visitor, setVisitor] = useState<Visitor>({
    country: 'DE',
    device: 'iphone',
    browser: 'Safari',
    language: 'de',
  })
  const replace = (at: number, rule: Rule | undefined) =>
    set({ rules: draft.rules.flatMap((one, n) => (n === at ? (rule ? [rule] : []) : [one])) })
  const add = () => set({ rules: [...draft.rules, { kind: draft.rules.at(-1)?.kind ?? 'device', value: '', url: '' }] })
  const problem = problemOf(error, 'geotarget', 'devicetarget', 'browsertarget', 'languagetarget')
  const hit = decidingRule(draft.rules, visitor)
  const summary =
    draft.rules.length === 0 ? texts.none : `${counted(t().link.rules, draft.rules.length)}, ${texts.firstWins}`
  return (
    <Fold {...props} group="rules" title={texts.rules} summary={summary}>
      <p class="hint">{texts.rulesHint}</p>
      {draft.rules.length > 0 && (
        <ol class="rule-list">
          {draft.rules.map((rule, n) => (
            <RuleRow
              key={n}
              rule={rule}
              n={n + 1}
              isHit={hit === n}
              onRule={(changed) => replace(n, changed)}
              onRemove={() => replace(n, undefined)}
            />
          ))}
        </ol>
      )}
      {problem !== undefined && <Problem>{problem}</Problem>}
      <div>
        <button class="text-button" type="button" onClick={add}>
          {texts.addRule}
        </button>
      </div>
      {draft.rules.length > 0 && <Tester draft={draft} visitor={visitor} onVisitor={setVisitor} />}
    </Fold>
  )
}
