import { account as accounts } from '../../commands/accounts/account.ts'
import { systemMetadata } from '../../events/event.ts'
import type { DirectoryGate } from '../../http/accounts/entrance.ts'
import { isShutOut, notePerson } from '../../postgres/directory.ts'
import { joinAccount } from '../../postgres/joined.ts'
import { isSameIssuer } from '../../lib/issuers.ts'
import { listDirectoryKeys } from '../../postgres/scimkeys.ts'
import { personKeys } from '../../security/directory.ts'
import type { Person } from '../../security/issuer.ts'
import { NotSignedIn } from '../../security/notsignedin.ts'
import type { Ledger } from '../log/ledger.ts'

/** The part of the directories that a sign-in uses. */
export const openDirectoryGate = ({
  config,
  db,
  handler,
  keys,
}: Pick<Ledger, 'config' | 'db' | 'handler' | 'keys'>): DirectoryGate => {
  const keysOf = ({ issuer, externalId }: Person) =>
    externalId === undefined ? undefined : personKeys(keys.service, issuer, externalId)
  const refuse = () => {
    throw new NotSignedIn('deactivated', 'the directory of the issuer has ended the access of this person')
  }
  /** Returns by what directories know a person. Throws where there is one, and the sign-in does not say that. */
  const knownBy = async (person: Person) => {
    const persons = keysOf(person)
    if (persons) return persons
    const all = await listDirectoryKeys(db)
    if (all.some(({ issuer }) => isSameIssuer(issuer, person.issuer)))
      throw new NotSignedIn(
        'answer',
        `the sign-in has no text or number in \`${config.OIDC_SCIM_CLAIM}\` (OIDC_SCIM_CLAIM), by which the directory knows the person`,
      )
    return []
  }
  return {
    requireActive: async (person) => {
      // that of an account is what its stream says
      if (await isShutOut(db, await knownBy(person))) refuse()
    },
    join: async (person, id) => {
      const persons = await knownBy(person)
      const [first] = persons
      if (!first) return
      if (config.OIDC_SCIM_CLAIM !== 'sub') await notePerson(db, id, first)
      // ended while the person was on the way here
      if ((await joinAccount(db, persons, id)) !== false) return
      await handler.handle(accounts, { type: 'DeactivateAccount', id }, systemMetadata(id))
      refuse()
    },
  }
}
