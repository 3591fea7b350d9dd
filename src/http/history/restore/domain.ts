import { addDomain } from '../../../commands/domains/add.ts'
import { domain, type DomainCommand, hostOf } from '../../../commands/domains/domain.ts'
import { completedDomain } from '../../../events/domains/domain.ts'
import { byId } from '../../api/fields.ts'
import { endpoint, type Writer } from '../../api/route.ts'
import { rejectRedirects, rejectServiceHost } from '../../domains/allowed.ts'
import { domainCaller, type DomainServices } from '../../domains/domain.ts'
import { domainFieldsOf } from '../fields.ts'
import { ownedOrDeleted } from '../routes.ts'
import { formerState, notRestored, restore, RestoreBody, type RestoreServices } from './restore.ts'
import { restoreContract } from '../contract/history.ts'

/** A domain comes back as if its owner added it again: verified within its reservation, else pending. */
export const domainRestoreRoute = (services: RestoreServices & DomainServices) =>
  endpoint(restoreContract, 'POST /api/domain/:id/restore', {
    scope: 'write',
    params: byId,
    single: true,
    owner: ownedOrDeleted(domain),
    body: RestoreBody,
    run: async (call) => {
      const { account, body, load, params } = call
      const { id } = params
      const { domainCheck } = services
      const { state: before } = await load(domain, id)
      const former = await formerState(domain, id, call, services, ({ status }) => status === 'open')
      const fields = { ...before.fields, ...former?.state.fields, domain: before.fields.domain }
      const { domain: _, ...changes } = completedDomain(fields)
      rejectRedirects(changes, services)
      const isDeleted = before.status === 'deleted'
      if (isDeleted) rejectServiceHost(hostOf(fields), services)
      const revive = async (writer: Writer) => {
        const creator = {
          ...domainCaller({ account, load: writer.load, write: writer.write }, services),
          create: (make: (id: number) => DomainCommand) => Promise.resolve({ id: make(id).id }),
          own: () => id,
        }
        await addDomain(creator, fields, domainCheck.proof === 'off' ? 'off' : undefined)
      }
      return restore(call, services, {
        kind: 'domain',
        before,
        fields: domainFieldsOf,
        isDeleted: ({ status }) => status === 'deleted',
        dryRun: body.dryRun ?? false,
        write: async (writer) => {
          if (!isDeleted) {
            const to = former && { to: former.revision }
            return writer.write(domain, { type: 'UpdateDomain', id, account, changes, ...to })
          }
          await revive(writer)
          const { state, revision, position } = await writer.load(domain, id)
          return { state, revision: Number(revision), position, events: [undefined] }
        },
        lost: ({ verified }, isBack) => (isBack && !verified ? [notRestored('verified', { what: 'reservation' })] : []),
      })
    },
  })
