import { localHostIn } from '../../core/address.ts'
import type { QrCode, QrCodeList } from '../../../http/qr/contract.ts'
import { useLoad } from '../../core/load.ts'
import { at, href } from '../../core/router.ts'
import { service } from '../../core/session.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { WriteLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Head } from '../../parts/section.tsx'
import { Empty, Failed, Notice, Skeleton } from '../../parts/states.tsx'
import { Visits } from '../../parts/visits.tsx'

const sizes = ['24', '48', '96']

const Card = ({ code }: { readonly code: QrCode }) => (
  <li>
    <a class="qr-card" href={href(`/qr/${code.id}`)}>
      {/* the picture itself, from this service; the revision of the row makes a new design visible at once */}
      <img src={new URL(`${code.link}.svg`).pathname} alt="" loading="lazy" width="200" height="200" />
      <span class="name cut" dir="auto">
        {code.name}
      </span>
    </a>
    <span class="quiet small">
      <Visits n={code.scans} name={code.name} of={{ qr: String(code.id) }} text={counted(t().qr.scans, code.scans)} />
    </span>
  </li>
)

/** All QR codes. */
export const QrCodes = () => {
  const { query } = at.value
  const wanted = new URLSearchParams({ limit: query.get('limit') ?? '24', page: query.get('page') ?? '1' })
  const list = useLoad<QrCodeList>(`/api/qr?${wanted.toString()}`)
  const texts = t().qr
  const rows = list.data?.data.qrs ?? []
  const host = localHostIn(service.baseUrl)
  const create = (
    <WriteLink kind="primary" href={href('/qr/new')}>
      <Icon name="plus" />
      {texts.create}
    </WriteLink>
  )
  return (
    <>
      <Head title={texts.title} text={list.data ? counted(texts.count, list.data.data.result) : '\u00a0'}>
        {create}
      </Head>
      {list.error && <Failed error={list.error} reload={list.reload} />}
      {!list.data && !list.error && <Skeleton rows={8} label={texts.title} />}
      {list.data && rows.length === 0 && <Empty title={texts.none} text={texts.noneText} />}
      {host !== undefined && rows.length > 0 && <Notice kind="warn">{fill(texts.onlyHere, { host })}</Notice>}
      <ul class="qr-grid">
        {rows.map((code) => (
          <Card key={code.id} code={code} />
        ))}
      </ul>
      {list.data && <Pager page={list.data.data} sizes={sizes} />}
    </>
  )
}
