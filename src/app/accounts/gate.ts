import { account as accounts } from '../../commands/accounts/account.ts'
import { systemMetadata } from '../../events/event.ts'
import type { DirectoryGate } from '../../http/accounts/entrance.ts'
import { isShutOut, notePerson } from '../../postgres/directory.ts'
import { joinAccount } from '../../postgres/joined.ts'
import { personKeys } from '../../security/directory.ts'
import type { Person } from '../../security/issuer.ts'
import { NotSignedIn } from '../../security/notsignedin.ts'
import type { Ledger } from '../log/ledger.ts'

/** What a sign-in asks of the directories, and tells them. */
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
  return {
    requireActive: async (person) => {
      const persons = keysOf(person)
      // that of an account is what its stream says
      if (persons && (await isShutOut(db, persons))) refuse()
    },
    join: async (person, id) => {
      const persons = keysOf(person)
      const [first] = persons ?? []
      if (!persons || !first) return
      if (config.OIDC_SCIM_CLAIM !== 'sub') await notePerson(db, id, first)
      // ended while the person was on the way here
      if ((await joinAccount(db, persons, id)) !== false) return
      await handler.handle(accounts, { type: 'DeactivateAccount', id }, systemMetadata(id))
      refuse()
    },
  }
}
