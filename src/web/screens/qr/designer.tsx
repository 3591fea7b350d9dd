import { useEffect, useState } from 'preact/hooks'
import type { FoundQrCode } from '../../../http/qr/contract.ts'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { saveFile } from '../../core/csv.ts'
import { useLoad } from '../../core/load.ts'
import { at, go, href, type ScreenProps } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { attempt, say } from '../../core/toasts.ts'
import { Button, Writable } from '../../parts/button.tsx'
import { isColor } from '../../parts/color.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/field.tsx'
import { HistoryLink } from '../../parts/historylink.tsx'
import { useCode } from '../../parts/qrimage.tsx'
import { Head, NotFound, Section } from '../../parts/section.tsx'
import { Empty, Failed, Skeleton } from '../../parts/states.tsx'
import { Visits } from '../../parts/visits.tsx'
import { blankDesign, dataOf, type Design, designOf, textOf } from './content.ts'
import { Colors, Content } from './form.tsx'
import { Preview } from './preview.tsx'

/** What is drawn in place of a logo that the service has: it is in its own picture only. */
const unknownLogo =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 4 4%22%3E%3Cpath fill=%22%23888%22 d=%22M1 1h2v2H1z%22/%3E%3C/svg%3E'

/** Returns the text of a design; an empty one while there is none. */
const useText = ({ type, data }: Design, link: string | undefined): string => {
  const [text, setText] = useState('')
  useEffect(() => {
    let gone = false
    void textOf({ type, data }, link).then((found) => gone || setText(found ?? ''))
    return () => {
      gone = true
    }
  }, [type, data, link])
  return text
}

/** Downloads of a code that is stored: the service draws them. */
const Downloads = ({ link, name }: { readonly link: string; readonly name: string }) => {
  const [size, setSize] = useState('1024')
  const texts = t().qr
  const file = name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-') || 'qr'
  const save = async (format: 'svg' | 'png') => {
    const path = new URL(link).pathname
    const answer = await fetch(format === 'svg' ? `${path}.svg` : `${path}.png?size=${size}`)
    if (answer.ok) saveFile(`${file}.${format}`, await answer.blob())
    else say(t().errors.unknown, { failed: true })
  }
  const failed = () => say(t().errors.offline, { failed: true })
  return (
    <Section title={texts.download}>
      <table class="downloads">
        <caption class="visually-hidden">{texts.download}</caption>
        <tbody>
          <tr>
            <th scope="row">
              <b>SVG</b>
            </th>
            <td class="quiet">{texts.forPrint}</td>
            <td>
              <Button icon="down" onClick={() => void save('svg').catch(failed)}>
                SVG
              </Button>
            </td>
          </tr>
          <tr>
            <th scope="row">
              <b>PNG</b>
            </th>
            <td class="quiet">
              <select
                class="input"
                aria-label={texts.pixels}
                value={size}
                onChange={(event) => setSize(event.currentTarget.value)}
              >
                {['256', '512', '1024', '2048'].map((one) => (
                  <option key={one} value={one}>
                    {fill(texts.size, { n: one })}
                  </option>
                ))}
              </select>
            </td>
            <td>
              <Button icon="down" onClick={() => void save('png').catch(failed)}>
                PNG
              </Button>
            </td>
          </tr>
        </tbody>
      </table>
    </Section>
  )
}

interface FormProps {
  readonly id: number | undefined
  readonly initial: Design
  /** the address of the picture, of a code that is stored */
  readonly link: string | undefined
  readonly scans: number
}

const bodyOf = (design: Design, before: Design, isNew: boolean) => ({
  ...(isNew ? { type: design.type } : {}),
  data: dataOf(design),
  foreground: design.foreground,
  background: design.background,
  ...(design.name === before.name && !isNew ? {} : { name: design.name }),
  ...(design.logo === before.logo ? {} : { logo: design.logo }),
})

/** Stores a design. A new code gets its own address. */
const store = async ({ id, initial }: Pick<FormProps, 'id' | 'initial'>, design: Design) => {
  const body = bodyOf(design, initial, id === undefined)
  if (id === undefined) {
    const made = await request<{ readonly id: number }>('POST', '/api/qr/add', body)
    go(href(`/qr/${made.id}`), { replace: true })
  } else await request('PUT', `/api/qr/${id}/update`, body)
  say(t().qr.saved)
}

const Designer = ({ id, initial, link, scans }: FormProps) => {
  const [design, setDesign] = useState(initial)
  const [isAsking, setIsAsking] = useState(false)
  const { error, busy, problem, run } = useForm()
  const texts = t().qr
  const text = useText(design, link)
  const logo = design.logo === undefined ? unknownLogo : (design.logo ?? undefined)
  const code = useCode(text, logo !== undefined)
  const look = {
    text,
    foreground: isColor(design.foreground) ? design.foreground : '#000000',
    background: isColor(design.background) ? design.background : '#ffffff',
    logo,
  }
  const props = { design, set: (changes: Partial<Design>) => setDesign((before) => ({ ...before, ...changes })), error }
  const remove = () =>
    attempt({
      apply: () => () => {},
      send: async () => {
        await request('DELETE', `/api/qr/${id}/delete`)
        go(href('/qr'))
      },
      done: texts.deleted,
      what: design.name,
    })
  return (
    <>
      <Head
        title={id === undefined ? texts.create : design.name || texts.one}
        text={
          id === undefined ? (
            texts.newText
          ) : (
            <Visits n={scans} name={design.name} of={{ qr: String(id) }} text={counted(texts.scans, scans)} />
          )
        }
      >
        <span class="chips">
          {id !== undefined && <HistoryLink of="qr" id={id} />}
          {id !== undefined && (
            <Button kind="danger" onClick={() => setIsAsking(true)}>
              {texts.delete}
            </Button>
          )}
          <Button kind="primary" busy={busy} onClick={() => void run(() => store({ id, initial }, design))}>
            {texts.save}
          </Button>
        </span>
      </Head>
      {problem() !== undefined && <Problem>{problem()}</Problem>}
      <div class="designer">
        {code && text !== '' ? (
          <Preview code={code} look={look} name={design.name || text} />
        ) : (
          <div class="preview">
            <div class="sheet-of-paper">
              <Empty title={texts.empty} text={texts.emptyText} />
            </div>
          </div>
        )}
        <div class="stack">
          <Writable>
            <Content {...props} isNew={id === undefined} />
            <Colors {...props} isNew={id === undefined} />
          </Writable>
          {link !== undefined && <Downloads link={link} name={design.name} />}
        </div>
      </div>
      {isAsking && (
        <Confirm
          title={fill(texts.deleteTitle, { name: design.name })}
          text={texts.deleteText}
          action={texts.delete}
          onClose={() => setIsAsking(false)}
          onConfirm={remove}
        />
      )}
    </>
  )
}

const Existing = ({ id }: { readonly id: number }) => {
  const found = useLoad<FoundQrCode>(`/api/qr/${id}`)
  const texts = t().qr
  if (found.error?.status === 404)
    return <NotFound title={texts.notFound} text={t().link.notFoundText} href={href('/qr')} name={texts.title} />
  if (found.data) {
    const { details } = found.data
    return <Designer id={id} initial={designOf(found.data)} link={details.link} scans={details.scans} />
  }
  return found.error ? <Failed error={found.error} reload={found.reload} /> : <Skeleton rows={10} label={texts.one} />
}

/** The design of a QR code: its content and its look, and whether it can be read. */
export const QrDesigner = ({ params }: ScreenProps) => {
  const id = params['id']
  const link = at.value.query.get('link') ?? ''
  return id === undefined ? (
    <Designer id={undefined} initial={blankDesign(link)} link={undefined} scans={0} />
  ) : (
    <Existing id={Number(id)} />
  )
}
