import type { Reader } from '../reader.ts'

/** A link and its account. */
export interface FramedLink {
  readonly id: number
  readonly account: number
}

/** Has a link checked before other due links of its account; it does not overtake other accounts. */
export const makeDue = async ({ db }: Reader, { id, account }: FramedLink) => {
  await db.raw(
    `insert into state.framing_checks (link, account, due_at) values (?, ?, now() - interval '1 day')
     on conflict (link) do update set account = excluded.account, due_at = excluded.due_at`,
    [id, account],
  )
}

/**
 * Takes up to `limit` due links, up to `ofEach` of an account: one of each account first, starting with the account
 * whose turn was longest ago, so that no account waits for the links of others across runs. Within an account, links
 * that have been due longest go first. Another process gets them only if this one has not finished them in ten minutes.
 */
export const claimDueLinks = async ({ db }: Reader, limit: number, ofEach: number): Promise<number[]> => {
  const { rows } = await db.raw<{ rows: { link: string }[] }>(
    `with recursive owner as (
       select min(account) as account from state.framing_checks
       union all
       select (select min(account) from state.framing_checks c where c.account > o.account) from owner o where o.account is not null
     ), next as (
       select d.link from owner o left join state.framing_turns t on t.account = o.account cross join lateral (
         select link, row_number() over (order by due_at) as turn from (
           select link, due_at from state.framing_checks c where c.account = o.account and due_at <= now() order by due_at limit ?
         ) d
       ) d order by d.turn, t.served_at nulls first, o.account limit ?
     ), claimed as (
       update state.framing_checks set due_at = now() + interval '10 minutes' where link in (
         select link from state.framing_checks where link in (select link from next) and due_at <= now() for update skip locked)
       returning link, account
     ), served as (
       insert into state.framing_turns (account, served_at) select account, clock_timestamp() from claimed group by account order by account
       on conflict (account) do update set served_at = excluded.served_at)
     select link from claimed`,
    [ofEach, limit],
  )
  return rows.map(({ link }) => Number(link))
}

/**
 * Sets when a link is checked again: in a day when every destination was checked, in about half an hour when some were
 * not, and never (undefined) when it frames none. A change of the link during the check keeps it due.
 */
export const setNextCheck = async (
  { db }: Reader,
  link: number,
  { account, complete }: { readonly account: number; readonly complete: boolean | undefined },
) => {
  const checked = db('state.framing_checks').where({ link }).where('due_at', '>', db.fn.now())
  if (complete === undefined) await checked.delete()
  else
    await checked.update({
      account,
      due_at: db.raw(
        complete ? `now() + interval '1 day'` : `now() + interval '10 minutes' + random() * interval '40 minutes'`,
      ),
    })
}

/**
 * Plans a check of links that have none: after an upgrade or a restored log. They are spread over a day. Deletes turns
 * of two days ago, as if the account never had one.
 */
export const addFramedLinks = async ({ db, table }: Reader) => {
  await db.raw(
    `insert into state.framing_checks (link, account, due_at)
     select l.id, l.account, now() + random() * interval '1 day' from ${table('links')} l
     join ${table('accounts')} a on a.id = l.account and a.status = 'active'
     where l.deleted is null and (l.type = 'frame' or l.type like 'overlay-%')
       and not exists (select 1 from state.framing_checks c where c.link = l.id)
     on conflict do nothing`,
  )
  await db.raw(`delete from state.framing_turns where served_at < now() - interval '2 days'`)
}
