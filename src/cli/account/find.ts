import type { Ledger } from '../../app/log/ledger.ts'
import { stop } from '../../lib/operatorerror.ts'
import { type AccountRow, findAccountBy } from '../../queries/accounts/account.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, confirm } from '../confirm.ts'
import { accountName } from './name.ts'

const described = ({ id, username, email, status, team }: AccountRow) =>
  `${team ? 'Team account' : 'Account'} ${id} (@${username}${email === null ? '' : `, ${email}`}${status === 'active' ? '' : `, ${status}`})`

/** Returns the account that is meant, once the operator has confirmed the change. */
export const findConfirmed = async (
  cli: Cli,
  { reader }: Ledger,
  who: string,
  options: Confirmation,
  change: string,
) => {
  const found = await findAccountBy(reader, accountName(who))
  if (!found || found.status === 'erased') return stop(`there is no account ${who}`)
  await confirm(cli, options, `${described(found)}: ${change}.`)
  return found
}
