import { isTaken, refuseTaken } from '../../../commands/claims/taken.ts'
import { aliasKey } from '../../../lib/short/alias.ts'
import type { Writer } from '../../api/route.ts'
import type { Row } from './rows.ts'

/** Returns the address that a row wants. On some domains, aliases can differ by letter case only. */
const wantedBy = ({ value: { custom, domain } }: Row) =>
  typeof custom === 'string' && custom !== ''
    ? JSON.stringify([domain ?? '', domain ? custom : aliasKey(custom)])
    : undefined

/**
 * Refuses at once what the request knows to be taken, because a row before has got it or has not: many rows with one
 * alias would each take their turn at the log.
 */
export const knowingTaken = () => {
  const taken = new Set<string>()
  return (writer: Writer, row: Row): Writer => {
    const wanted = wantedBy(row)
    if (wanted === undefined) return writer
    return {
      ...writer,
      create: async (...given) => {
        if (taken.has(wanted)) return refuseTaken('alias', 'custom')
        try {
          const created = await writer.create(...given)
          taken.add(wanted)
          return created
        } catch (error) {
          if (isTaken(error, 'alias')) taken.add(wanted)
          throw error
        }
      },
    }
  }
}
