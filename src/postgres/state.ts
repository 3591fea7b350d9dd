import type { Database } from './database.ts'
import { advanceSequence, idKinds } from './ids.ts'
import { OperatorError } from '../lib/operatorerror.ts'

/** The target has a service key of its own: another Linkledger has used it. */
export class OtherState extends OperatorError {
  override readonly name = 'OtherState'
}

interface Key {
  readonly name: string
  readonly wrapped: string
}

/**
 * Copies what is not in the log to another database: the wrapped keys, which keys were destroyed, the sequences, and the results of domain checks. It can be repeated;
 * sequences never go backwards. Throws `OtherState` before anything is changed.
 */
export const copyState = async (from: Database, to: Database): Promise<void> => {
  const keys = await from<Key>('state.keys').orderBy('name')
  const destroyed = await from<{ name: string }>('state.destroyed_keys')
  const checks = await from<{ domain: string }>('state.domain_checks')
  await to.transaction(async (tx) => {
    const [existing] = await tx<Key>('state.keys').where({ name: 'service' })
    const service = keys.find(({ name }) => name === 'service')
    if (existing && existing.wrapped !== service?.wrapped)
      throw new OtherState('the target holds the keys of another Linkledger: use an empty database')
    for (let n = 0; n < destroyed.length; n += 1000)
      await tx('state.destroyed_keys')
        .insert(destroyed.slice(n, n + 1000))
        .onConflict('name')
        .ignore()
    // a key that an interrupted copy has brought here may be destroyed since
    await tx('state.keys').whereIn('name', tx('state.destroyed_keys').select('name')).delete()
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
      if (rows[0]?.drawn) await advanceSequence(tx, kind, Number(rows[0].last))
    }
  })
}
