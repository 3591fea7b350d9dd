import { t } from '../../core/alltexts.ts'
import { href } from '../../core/router.ts'
import { Head, Section } from '../../parts/section.tsx'

/** Explains what is counted, and why other tools show other numbers. */
export const Counting = () => {
  const { title, lead, items } = t().counting
  return (
    <>
      <Head title={title} text={lead}>
        <a class="button" href={href('/classes')}>
          {t().classes.title}
        </a>
      </Head>
      <div class="columns">
        {items.map(([name = '', text = '']) => (
          <Section key={name} title={name}>
            <p>{text}</p>
          </Section>
        ))}
      </div>
    </>
  )
}
