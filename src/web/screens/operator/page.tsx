import type { ComponentChildren } from 'preact'
import { at, href } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { Head } from '../../parts/section.tsx'

const tabs = [
  ['/operator', 'accounts'],
  ['/operator/reports', 'reports'],
  ['/operator/blocks', 'blocks'],
  ['/operator/misses', 'misses'],
  ['/operator/classes', 'classes'],
  ['/operator/health', 'health'],
] as const

interface OperatorPageProps {
  /** what can be done, beside the heading */
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

/** The heading of what operators look after, with a tab for each part. */
export const OperatorPage = ({ action, children }: OperatorPageProps) => {
  const texts = t().operator
  return (
    <div class="operated">
      <Head title={texts.title} text={texts.lead}>
        {action}
      </Head>
      <nav class="tabs" aria-label={texts.title}>
        {tabs.map(([path, name]) => (
          <a key={path} href={href(path)} aria-current={at.value.path === path ? 'page' : undefined}>
            {texts[name]}
          </a>
        ))}
      </nav>
      {children}
    </div>
  )
}
