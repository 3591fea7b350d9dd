import type { Database } from './database.ts'
import { atLeast, idKinds } from './ids.ts'

/** The target has keys of its own: another Linkledger has worked on it. */
export class OtherState extends Error {}

interface Key {
  readonly name: string
  readonly wrapped: string
}

/**
 * Brings what a log alone does not hold into another database: the wrapped keys, the sequences, and when domains were looked at.
 * As often as one likes; nothing goes backwards. Throws `OtherState`, having changed nothing.
 */
export const copyState = async (from: Database, to: Database): Promise<void> => {
  const keys = await from<Key>('state.keys').orderBy('name')
  const checks = await from<{ domain: string }>('state.domain_checks')
  await to.transaction(async (tx) => {
    const [own] = await tx<Key>('state.keys').where({ name: 'service' })
    const service = keys.find(({ name }) => name === 'service')
    if (own && own.wrapped !== service?.wrapped)
      throw new OtherState('the target holds the keys of another Linkledger: give an empty database')
    for (let n = 0; n < keys.length; n += 1000)
      await tx('state.keys')
        .insert(keys.slice(n, n + 1000))
        .onConflict('name')
        .ignore()
    for (let n = 0; n < checks.length; n += 1000)
      await tx('state.domain_checks')
        .insert(checks.slice(n, n + 1000))
        .onConflict('domain')
        .ignore()
    for (const kind of idKinds) {
      const { rows } = await from.raw<{ rows: { last: string; drawn: boolean }[] }>(
        `select last_value as last, is_called as drawn from state.${kind}_id`,
      )
      if (rows[0]?.drawn) await atLeast(tx, kind, Number(rows[0].last))
    }
  })
}
