import type { Code } from '../../../qr/code.ts'
import { contrast, luminance } from '../../../qr/color.ts'
import { localHostIn } from '../../core/address.ts'
import { t } from '../../core/alltexts.ts'
import { figure, fill } from '../../core/texts.ts'
import { Icon } from '../../parts/icon.tsx'
import { CodeImage, type Look } from '../../parts/qrimage.tsx'
import { useScans } from './scan.ts'

/** below this, the service refuses a code */
export const leastContrast = 3
/** below this, some scanners fail */
export const goodContrast = 4

interface Check {
  readonly name: string
  readonly note: string
  readonly ok: boolean
}

/** mm of the smallest module that phones read from ten times its width */
const module = 0.4

const checksOf = (code: Code, { text, foreground, background }: Look): readonly Check[] => {
  const texts = t().qr.checks
  const host = localHostIn(text)
  const ratio = contrast(foreground, background)
  const isDark = luminance(foreground) < luminance(background)
  const side = ((code.size + 8) * module) / 10
  return [
    ...(host === undefined ? [] : [{ name: fill(t().qr.onlyHere, { host }), note: '', ok: false }]),
    { name: texts.contrast, note: `${figure(ratio, 1)} : 1`, ok: ratio >= goodContrast },
    { name: texts.darkOnLight, note: isDark ? texts.asExpected : texts.inverted, ok: isDark },
    { name: texts.quietZone, note: fill(texts.modules, { n: 4 }), ok: true },
    {
      name: texts.printSize,
      note: fill(texts.printed, { side: figure(side, 1), distance: figure(side * 10) }),
      ok: side <= 3,
    },
  ]
}

const Verdict = ({ code, look }: { readonly code: Code; readonly look: Look }) => {
  const scans = useScans(code, look)
  const texts = t().qr
  const ok = scans && scans.read === scans.of
  return (
    <div class="verdict" role="status">
      <Icon name={scans && !ok ? 'warning' : 'proof'} />
      <div>
        <strong>{!scans ? texts.scanning : ok ? texts.reliable : texts.unreliable}</strong>
        <span class="quiet small">
          {scans ? fill(texts.readBack, { n: figure(scans.read), of: figure(scans.of) }) : '\u00a0'}
        </span>
      </div>
    </div>
  )
}

interface PreviewProps {
  readonly code: Code
  readonly look: Look
  readonly name: string
}

/** The code as it will be, and what scanners make of it. */
export const Preview = ({ code, look, name }: PreviewProps) => {
  const texts = t().qr
  const version = (code.size - 17) / 4
  return (
    <div class="preview">
      <figure class="sheet-of-paper">
        <CodeImage code={code} look={look} label={fill(texts.codeOf, { name })} />
      </figure>
      <p class="caption">
        <span>{fill(texts.version, { n: version, side: code.size })}</span>
      </p>
      <Verdict code={code} look={look} />
      <ul class="checks">
        {checksOf(code, look).map(({ name: check, note, ok }) => (
          <li key={check} class={ok ? '' : 'warn'}>
            <Icon name={ok ? 'check' : 'warning'} />
            <span>{check}</span>
            <span class="quiet">{note}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** How far the colors are apart, on a line from none to black and white. */
export const Gauge = ({ foreground, background }: Pick<Look, 'foreground' | 'background'>) => {
  const texts = t().qr
  const ratio = contrast(foreground, background)
  // as differences are seen: equal steps are equal factors
  const place = (n: number) => `${(100 * Math.log(n)) / Math.log(21)}%`
  return (
    <div class="gauge full-width">
      <p class="label-row">
        <span class="label">{texts.checks.contrast}</span>
        <span class="figure">{figure(ratio, 1)} : 1</span>
      </p>
      <svg role="img" aria-label={fill(texts.gauge, { n: figure(ratio, 1), least: goodContrast })}>
        <line class="line" x1="0" x2="100%" y1="12" y2="12" />
        <line class="fill" x1="0" x2={place(ratio)} y1="12" y2="12" />
        <line class="limit" x1={place(goodContrast)} x2={place(goodContrast)} y1="3" y2="21" />
        <text x="0" y="36">
          1 : 1
        </text>
        <text x={place(goodContrast)} y="36" text-anchor="middle">
          {fill(texts.scannersNeed, { n: goodContrast })}
        </text>
        <text x="100%" y="36" text-anchor="end">
          21 : 1
        </text>
      </svg>
    </div>
  )
}
