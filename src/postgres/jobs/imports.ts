import { storable } from '../../lib/storable.ts'
import type { Problem } from '../../lib/problems/problem.ts'
import type { Database } from '../database.ts'

/** What is done with the file of an import: only say what would become of it, import it, or take that back. */
export type ImportWork = 'check' | 'import' | 'undo'

/** A file of an import: see 040_imports.sql. */
export interface StoredImport<Options = unknown> {
  readonly id: string
  readonly account: number
  readonly work: ImportWork
  readonly format: string
  /** of the file, as the client calls it */
  readonly name: string
  /** bytes */
  readonly size: number
  readonly options: Options
  /** lines that it will have; null: not known yet */
  readonly total: number | null
  readonly problem: Problem | null
  readonly began: Date
  /** whether a process works on it */
  readonly running: boolean
  /** whether the work was broken off, because its process has ended */
  readonly interrupted: boolean
}

/** The result for a record of the file. `link` is the link that it has created or found. */
export interface StoredLine {
  readonly outcome: string
  readonly place: string
  readonly alias: string
  readonly url: string
  readonly message: string
  readonly left: readonly string[]
  readonly link: number | null
}

const isRunning = `(instance <> '' and exists (
  select 1 from pg_stat_activity where starts_with(application_name, instance)))`
const columns = `id, account, work, format, name, size, options, total, problem, began_at as began,
  ${isRunning} as running, instance <> '' and not ${isRunning} as interrupted`

type Row<O> = Omit<StoredImport<O>, 'account' | 'size' | 'total'> & {
  readonly account: string
  readonly size: string
  readonly total: string | null
}
type New<O> = Pick<StoredImport<O>, 'id' | 'account' | 'work' | 'format' | 'name' | 'size' | 'options'>

/** Returns JSON for PostgreSQL: files, and what is said of them, have any text. */
const jsonOf = (value: unknown) =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'string' ? storable(one) : one))

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text)
/** what a line keeps at most: records have texts of any length, and tables of any number of columns */
const most = { text: 300, sentence: 2000, left: 100 } as const
const short = ({ place, alias, url, message, left, ...line }: StoredLine): StoredLine => ({
  ...line,
  place: cut(place, most.text),
  alias: cut(alias, most.text),
  url: cut(url, most.sentence),
  message: cut(message, most.sentence),
  left: [...left.slice(0, most.left), ...(left.length > most.left ? ['…'] : [])].map((name) => cut(name, most.text)),
})

const addingTo =
  (db: Database) =>
  async (id: string, from: number, lines: readonly StoredLine[]): Promise<void> => {
    if (lines.length === 0) return
    await db.raw(
      `insert into state.import_lines (import, n, outcome, place, alias, url, message, left_out, link)
         select ?, ?::bigint + nr - 1, outcome, place, alias, url, message,
           array(select json_array_elements_text(l."left")), link
         from rows from (json_to_recordset(?::json) as (
           outcome text, place text, alias text, url text, message text, "left" json, link bigint)) with ordinality
           as l (outcome, place, alias, url, message, "left", link, nr)
         on conflict do nothing`,
      [id, from, jsonOf(lines.map(short))],
    )
  }

/** Opens the lines that come after a gap in the numbers: their place in the report is not known. */
const linesBehind = (db: Database) => ({
  /** Adds lines after a gap in the numbers. */
  addBehind: async (id: string, lines: readonly StoredLine[]) => {
    const sql = 'select coalesce(max(n) + 2, 1) as next from state.import_lines where import = ?'
    const { rows } = await db.raw<{ rows: { next: string }[] }>(sql, [id])
    await addingTo(db)(id, Number(rows[0]?.next), lines)
  },
  /** Removes the lines that come after a gap. Returns how many there are before it. */
  cutAtGap: async (id: string): Promise<number> => {
    const numbered = `select n, n - (row_number() over (order by n) - 1) as gaps from state.import_lines where import = ?`
    await db.raw(
      `delete from state.import_lines where import = ? and n in (select n from (${numbered}) as l where gaps > 0)`,
      [id, id],
    )
    const { rows } = await db.raw<{ rows: { n: number }[] }>(
      'select count(*)::int as n from state.import_lines where import = ?',
      [id],
    )
    return rows[0]?.n ?? 0
  },
})

const saidFirst = `case when message = '' then 2 when outcome in ('created', 'added', 'kept') then 1 else 0 end`

/** Opens the lines of reports. */
const linesIn = (db: Database) => ({
  add: addingTo(db),
  /** Returns how many lines there are of each outcome. */
  counts: async (id: string): Promise<Readonly<Record<string, number>>> => {
    const sql = 'select outcome, count(*)::int as n from state.import_lines where import = ? group by 1'
    const { rows } = await db.raw<{ rows: { outcome: string; n: number }[] }>(sql, [id])
    return Object.fromEntries(rows.map(({ outcome, n }) => [outcome, n]))
  },
  /**
   * Returns up to `limit` lines from a number on; `said`: only those that say something, and first what did not come.
   * Every link may have a field that is left out, which would hide it.
   */
  lines: async (id: string, from: number, limit: number, said = false) => {
    const [which, order] = said ? [` and (message <> '' or left_out <> '{}')`, `${saidFirst}, n`] : ['', 'n']
    const sql = `select n, outcome, place, alias, url, message, left_out as left, link from state.import_lines
        where import = ? and n >= ?${which} order by ${order} limit ?`
    const { rows } = await db.raw<{ rows: (Omit<StoredLine, 'link'> & { n: string; link: string | null })[] }>(sql, [
      ...[id, from, limit],
    ])
    return rows.map(({ n, link, ...line }) => ({ ...line, n: Number(n), link: link === null ? null : Number(link) }))
  },
  /** Returns those of links that no line has. */
  withoutLine: async (id: string, links: readonly number[]): Promise<readonly number[]> => {
    const sql = `select l.id from unnest(?::bigint[]) as l (id)
        where not exists (select 1 from state.import_lines where import = ? and link = l.id)`
    const { rows } = await db.raw<{ rows: { id: string }[] }>(sql, [`{${links.join()}}`, id])
    return rows.map((row) => Number(row.id))
  },
})

const storedOf = <O>(row: Row<O>): StoredImport<O> => ({
  ...row,
  account: Number(row.account),
  size: Number(row.size),
  total: row.total === null ? null : Number(row.total),
})

/** Runs work while no other process begins work of the account. Returns false if one is under way. */
const alone = async (db: Database, account: number, work: (tx: Database) => Promise<void>): Promise<boolean> =>
  db.transaction(async (tx) => {
    await tx.raw(`select pg_advisory_xact_lock(hashtextextended('imports', ?))`, [account])
    const sql = `select 1 from state.imports where account = ? and ${isRunning} limit 1`
    const { rows } = await tx.raw<{ rows: object[] }>(sql, [account])
    if (rows.length > 0) return false
    await work(tx as Database)
    return true
  })

/** Opens the files of imports. `instance` names this process. */
export const openImports = <O>(db: Database, instance: string) => {
  return {
    /** Enters a file, and begins to work on it. Returns false while the account has another one that runs. */
    begin: ({ options, ...row }: New<O>): Promise<boolean> =>
      alone(db, row.account, async (tx) => {
        await tx('state.imports').insert({ ...row, options: JSON.stringify(options), instance })
      }),
    enter: async ({ options, ...row }: New<O>) =>
      void (await db('state.imports')
        .insert({ ...row, options: JSON.stringify(options), instance: '' })
        .onConflict('id')
        .ignore()),
    /**
     * Begins other work on a file, or goes on with what was broken off. Returns false while the account has one that
     * runs.
     */
    resume: (
      { id, account, work: before }: Pick<StoredImport, 'id' | 'account' | 'work'>,
      { work, options }: Pick<StoredImport<O>, 'work' | 'options'>,
    ): Promise<boolean> =>
      alone(db, account, async (tx) => {
        // what a check has found says nothing about what is done
        if (before === 'check') await tx('state.import_lines').where({ import: id }).delete()
        await tx('state.imports')
          .where({ id })
          .update({ work, instance, options: JSON.stringify(options), problem: null })
      }),
    find: async (account: number, id: string) => {
      const sql = `select ${columns} from state.imports where account = ? and id = ?`
      const { rows } = await db.raw<{ rows: Row<O>[] }>(sql, [account, id])
      return rows[0] && storedOf(rows[0])
    },
    /** Returns the files of an account that are not needed any more, once another one is sent. */
    waiting: async (account: number) => {
      const sql = `select ${columns} from state.imports where account = ? and work = 'check' and not ${isRunning}`
      const { rows } = await db.raw<{ rows: Row<O>[] }>(sql, [account])
      return rows.map(({ id }) => id)
    },
    /** Returns the newest imports of an account that have failed, besides one. */
    failedBefore: async (account: number, id: string) => {
      const sql = `select id from state.imports where account = ? and id <> ? and work = 'import' and problem is not null
        order by began_at desc limit 100`
      const { rows } = await db.raw<{ rows: { id: string }[] }>(sql, [account, id])
      return rows.map((row) => row.id)
    },
    learn: async (id: string, known: Partial<Pick<StoredImport, 'total' | 'format'>>) =>
      void (await db('state.imports').where({ id }).update(known)),
    /** The work has ended; `problem` says why it could not be done. */
    end: async (id: string, problem?: Problem) =>
      void (await db('state.imports')
        .where({ id })
        .update({ instance: '', problem: problem ? jsonOf(problem) : null })),
    /** Forgets a file. Returns false while the account has one that runs. */
    forget: (account: number, id: string): Promise<boolean> =>
      alone(db, account, async (tx) => void (await tx('state.imports').where({ id }).delete())),
    /** Forgets a file that could not be begun, also while another one of the account runs. */
    drop: async (id: string) => void (await db('state.imports').where({ id }).delete()),
    ...linesIn(db),
    ...linesBehind(db),
  }
}
export type ImportFiles<O> = ReturnType<typeof openImports<O>>

/** Returns those of ids that are imports. */
export const knownImports = async (db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set(
    ids.length === 0
      ? []
      : await db('state.imports')
          .whereRaw('id::text = any(?)', [[...ids]])
          .pluck<string[]>('id'),
  )

/** Forgets what accounts have imported, and from where. */
export const eraseImports = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db('state.imports').whereIn('account', accounts).delete()
}
