import type { Reader } from '../reader.ts'

/** Has a link checked next, before those that are due anyway. */
export const makeDue = async ({ db }: Reader, link: number) => {
  await db.raw(
    `insert into state.framing_checks (link, due_at) values (?, now() - interval '1 day')
     on conflict (link) do update set due_at = excluded.due_at`,
    [link],
  )
}

/**
 * Takes up to `limit` links that are due. Another process gets them only if this one has not finished with them in ten
 * minutes.
 */
export const claimDueLinks = async ({ db }: Reader, limit: number): Promise<number[]> => {
  const { rows } = await db.raw<{ rows: { link: string }[] }>(
    `update state.framing_checks set due_at = now() + interval '10 minutes' where link in (
       select link from state.framing_checks where due_at <= now() order by due_at limit ? for update skip locked)
     returning link`,
    [limit],
  )
  return rows.map(({ link }) => Number(link))
}

/**
 * Sets when a link is checked again: in a day when every destination was asked, in about half an hour when some were
 * not, and never (undefined) when it frames none. A change of the link during the check keeps it due.
 */
export const setNextCheck = async ({ db }: Reader, link: number, complete: boolean | undefined) => {
  const checked = db('state.framing_checks').where({ link }).where('due_at', '>', db.fn.now())
  if (complete === undefined) await checked.delete()
  else
    await checked.update({
      due_at: db.raw(
        complete ? `now() + interval '1 day'` : `now() + interval '10 minutes' + random() * interval '40 minutes'`,
      ),
    })
}

/**
 * Adds links that no check is planned for: those of a log from before this release, or of a restored one. They are
 * spread over a day.
 */
export const addFramedLinks = async ({ db, table }: Reader) => {
  await db.raw(
    `insert into state.framing_checks (link, due_at)
     select l.id, now() + random() * interval '1 day' from ${table('links')} l
     join ${table('accounts')} a on a.id = l.account and a.status = 'active'
     where l.deleted is null and (l.type = 'frame' or l.type like 'overlay-%')
       and not exists (select 1 from state.framing_checks c where c.link = l.id)
     on conflict do nothing`,
  )
}
