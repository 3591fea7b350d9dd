import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface SectionProps {
  readonly title: string
  /** tabs, shown instead of the visible heading */
  readonly tabs?: ComponentChildren
  /** beside the heading */
  readonly tools?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of a screen: one rule in ink, and no box. */
export const Section = ({ title, tabs, tools, children }: SectionProps) => {
  const id = useId()
  return (
    <section class="section" aria-labelledby={id}>
      <header>
        <h2 id={id} class={tabs ? 'visually-hidden' : ''}>
          {title}
        </h2>
        {tabs && <div class="tabs-inline">{tabs}</div>}
        {tools && <div class="tools">{tools}</div>}
      </header>
      {children}
    </section>
  )
}

interface HeadProps {
  readonly title: string
  readonly text?: ComponentChildren
  readonly children?: ComponentChildren
}

/** The heading of a screen, with what can be done at its end. */
export const Head = ({ title, text, children }: HeadProps) => (
  <div class="head">
    <div>
      <h1>{title}</h1>
      {text && <p>{text}</p>}
    </div>
    {children}
  </div>
)

interface NotFoundProps {
  readonly title: string
  readonly text: string
  /** where to go on */
  readonly href: string
  readonly name: string
}

/** A whole screen for what is not there. */
export const NotFound = ({ title, text, href, name }: NotFoundProps) => (
  <>
    <Head title={title} text={text} />
    <a class="button" href={href}>
      {name}
    </a>
  </>
)
