import type { Knex } from 'knex'
import type { Click } from '../events/click.ts'
import type { Recorded } from '../events/event.ts'
import type { Event } from '../events/index.ts'
import type { Projection, TableNames } from './projection.ts'

/** A click's own number: the position of its event and its index in the batch, which is below 1,000. */
const seq = (position: bigint, index: number) => position * 1000n + BigInt(index)
/** Values of `clicks.class`. */
export const classes = { human: 0, bot: 1, preview: 2, prefetch: 3 } as const
/** Values of `labels.dim`. */
export const dims = { referrer: 0, country: 1, browser: 2, os: 3, device: 4, language: 5, source: 6 } as const
type Dim = keyof typeof dims

const labelOf: Record<Dim, (click: Click) => string> = {
  referrer: ({ referrer }) => referrer,
  country: ({ country }) => country,
  browser: ({ browser }) => browser.family,
  os: ({ os }) => os.family,
  device: ({ device }) => device,
  language: ({ language }) => language,
  source: ({ source }) => source.kind,
}
const dimensions = Object.keys(dims) as Dim[]

/** Values of the columns `link`: the id of a link, or the negative id of a QR code. */
export const subjects = { link: (id: number) => id, qr: (id: number) => -id } as const
const subjectOf = ({ link, source }: Click) => (link === 0 ? subjects.qr(source.id) : subjects.link(link))

const labelKey = (dim: Dim, label: string) => `${dims[dim]}/${label}`

/** Returns the ids of the clicks' labels by `labelKey`. New labels are numbered in log order, so that every replay gives the same ids. */
const labelIds = async (tx: Knex, table: string, clicks: readonly Click[]) => {
  const wanted = new Map<string, { dim: number; label: string }>()
  for (const click of clicks)
    for (const dim of dimensions) {
      const label = labelOf[dim](click)
      wanted.set(labelKey(dim, label), { dim: dims[dim], label })
    }
  const { rows } = await tx.raw<{ rows: { id: number; dim: number; label: string }[] }>(
    `with wanted as (
       select (w->>'dim')::smallint as dim, w->>'label' as label, nr from json_array_elements(?::json) with ordinality as w (w, nr)
     ), made as (
       insert into ${table} (id, dim, label)
       select coalesce((select max(id) from ${table}), 0) + row_number() over (order by nr), dim, label
       from wanted where not exists (select 1 from ${table} l where l.dim = wanted.dim and l.label = wanted.label)
       order by nr
       returning id, dim, label
     )
     select l.id, l.dim, l.label from ${table} l join wanted using (dim, label) union all select * from made`,
    [JSON.stringify([...wanted.values()])],
  )
  return new Map(rows.map(({ id, dim, label }) => [`${dim}/${label}`, id]))
}

const write = async (tx: Knex, names: TableNames, events: readonly Recorded<Event<'LinkClicked'>>[]) => {
  const clicks = events.flatMap(({ position, data }) =>
    data.clicks.map((click, i) => ({ seq: seq(position, i), click })),
  )
  const ids = await labelIds(
    tx,
    names('labels'),
    clicks.map(({ click }) => click),
  )
  /** Formats an array literal of PostgreSQL; numbers and times need no quotes. */
  const column = (of: (click: Click, i: number) => string | number | bigint) =>
    `{${clicks.map(({ click }, i) => of(click, i)).join()}}`
  const [facts, stats] = [names('clicks'), names('link_stats')]
  const statement = `
    with n as (
      select * from unnest(?::bigint[], ?::bigint[], ?::timestamptz[], ?::bigint[], ?::bigint[], ?::smallint[], ${dimensions.map(() => '?::int[]').join()})
        as n (seq, visitor, at, link, account, class, ${dimensions.join()})
    ), marked as (
      -- a subquery per click uses the index; for an \`exists\` PostgreSQL reads the whole table
      select *, class = 0 and row_number() over (partition by link, visitor, class order by seq) = 1
        and (select c.seq from ${facts} c where c.link = n.link and c.visitor = n.visitor and c.class = 0 limit 1) is null as first
      from n
    ), added as (
      insert into ${facts} (seq, visitor, at, link, class, first, ${dimensions.join()})
      select seq, visitor, at, link, class, first, ${dimensions.join()} from marked order by seq
    )
    insert into ${stats} as s (link, account, clicks, uniques, visits)
    select link, max(account), count(*) filter (where class = 0), count(*) filter (where first), count(*)
    from marked group by link order by link
    on conflict (link) do update set
      clicks = s.clicks + excluded.clicks, uniques = s.uniques + excluded.uniques, visits = s.visits + excluded.visits`
  await tx.raw(statement, [
    column((_, i) => clicks[i]!.seq),
    column(({ visitor }) => BigInt.asIntN(64, BigInt(`0x${visitor}`))),
    column(({ at }) => at),
    column(subjectOf),
    column(({ account }) => account),
    column((click) => classes[click.class]),
    ...dimensions.map((dim) => column((click) => ids.get(labelKey(dim, labelOf[dim](click))) ?? 0)),
  ])
}

/** Clicks (one row per visit) and counters. They have a subscription of their own, so that many clicks never delay other changes. */
export const stats: Projection = {
  name: 'stats',
  version: 2,
  filter: 'clicks',
  tables: {
    clicks: (t) => `
      create table ${t} (
        seq bigint not null, visitor bigint not null, at timestamptz not null, link bigint not null, referrer int not null, country int not null,
        browser int not null, os int not null, device int not null, language int not null, source int not null,
        class smallint not null, first boolean not null);
      create index on ${t} (link, seq);
      create index on ${t} (link, visitor);
      create index on ${t} using brin (at)`,
    labels: (t) =>
      `create table ${t} (id int primary key, dim smallint not null, label text not null, unique (dim, label))`,
    link_stats: (t) => `
      create table ${t} (
        link bigint primary key, account bigint not null, clicks bigint not null, uniques bigint not null, visits bigint not null
      ) with (fillfactor = 80);
      create index on ${t} (account, clicks desc, link desc)`,
  },
  write: (tx, names, events) =>
    write(
      tx,
      names,
      events.filter((e): e is Recorded<Event<'LinkClicked'>> => e.type === 'LinkClicked'),
    ),
}
