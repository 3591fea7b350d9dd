import { z } from 'zod'
import type { EndReservation, Quotas } from '../../../cache/quotas.ts'
import { type Decider, isRefused } from '../../../commands/decider.ts'
import type { Handled } from '../../../commands/context.ts'
import type { Handler } from '../../../commands/handle.ts'
import { countRevision } from '../../../commands/load.ts'
import type { DomainEvent } from '../../../events/index.ts'
import { isNamed, isOwned, kinds, type ResourceKind } from '../../../events/kinds.ts'
import type { Ordinals } from '../../../events/ordinals.ts'
import { addressSite } from '../../../lib/address.ts'
import { createSemaphore, within } from '../../../lib/async/semaphore.ts'
import { must, says } from '../../../lib/fields.ts'
import { problem, type Problem, sentenceOf, type Values } from '../../../lib/problems/problem.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { fail, failField } from '../../api/errors.ts'
import { flag } from '../../api/fields.ts'
import { parseMoment } from '../../api/past/moment.ts'
import { notFuture } from '../../api/past/past.ts'
import type { Call, Writer } from '../../api/route.ts'
import { changesBetween, type Fields } from '../fields.ts'

const revision = z.int(must('wrong_type', { what: 'revision' })).min(0, says('wrong_type', { what: 'revision' }))
/** The body of a restore: the state to restore, and whether to only preview the change. */
export const RestoreBody = z
  .object({
    revision: revision.optional(),
    at: z.string(must('wrong_form', { what: 'past' })).optional(),
    dryRun: flag.optional(),
  })
  .refine(({ revision: to, at }) => to === undefined || at === undefined, says('not_alone', { what: 'moment' }))
export type RestoreBody = z.output<typeof RestoreBody>

/** Dependencies of every restore. */
export interface RestoreServices {
  readonly handler: Handler
  readonly ordinals: Ordinals
  readonly quotas: Quotas
}

/** A field that was not restored, and why. */
export type NotRestored = Problem & { readonly field: string }

/** Returns why a field was not restored. */
export const notRestored = (field: string, why: Values<'not_restored'>): NotRestored => ({
  ...problem('not_restored', why),
  field,
})

/** The state of a resource after one of its revisions. */
export interface FormerState<S> {
  readonly revision: number
  readonly state: S
}

/** Returns the position of the log that a body asks for; undefined: it names a revision, or nothing. Fails with 400. */
const positionOf = async ({ at }: RestoreBody, { ordinals }: Pick<RestoreServices, 'ordinals'>) => {
  if (at === undefined) return undefined
  const moment = parseMoment(at)
  if (!moment) return failField('at', 'wrong_form', { what: 'past' })
  if (moment.kind === 'event')
    return (await ordinals.positionOf(moment.ordinal)) ?? failField('at', 'in_future', { what: 'event' })
  return (await ordinals.lastAt(await notFuture(moment.at, ordinals)))?.position ?? 0n
}

/** Restores of an account read one after another, and those of a network leave others their turn. */
const inTurn = createSemaphore<number>({ total: 2, perKey: 1, kept: 1, waiting: 20 })

/** The caller who waits for a former state: it is read when their turn comes. */
type Asking = Pick<Call<unknown, unknown, RestoreBody>, 'account' | 'body' | 'from' | 'gone'>

/**
 * Returns the state of a resource at the moment of the body; undefined without a moment. Fails with 400 when the
 * resource did not exist then.
 */
export const formerState = async <C, S, E extends DomainEvent>(
  decider: Decider<C, S, E>,
  id: number,
  { account, body, from, gone }: Asking,
  services: Omit<RestoreServices, 'quotas'>,
  exists: (state: S) => boolean,
): Promise<FormerState<S> | undefined> => {
  const position = await positionOf(body, services)
  const { revision: asked } = body
  const until = position === undefined ? asked !== undefined && { revision: asked } : { position }
  if (!until) return undefined
  const read = () => {
    const signal = gone()
    if (signal.aborted) throw new Unavailable('the client no longer waits for the answer')
    return services.handler.loadFormer(decider, id, until, signal)
  }
  const { state, revision } = await within(inTurn, account, read, addressSite(from))
  if (asked !== undefined && countRevision(revision) < asked)
    failField('revision', 'out_of_range', { what: 'revision', max: Math.max(0, countRevision(revision)) })
  if (revision === 'no_stream' || !exists(state))
    return failField(asked === undefined ? 'at' : 'revision', 'out_of_range', { what: 'existed' })
  return { revision: countRevision(revision), state }
}

/** A restore: its writes, and how its fields are shown. */
export interface Restoring<S> {
  readonly kind: ResourceKind
  /** the name of a part of the resource */
  readonly label?: string
  readonly before: S
  readonly fields: (state: S) => Fields
  readonly isDeleted: (state: S) => boolean
  readonly dryRun: boolean
  readonly write: (
    writer: Writer,
  ) => Promise<Pick<Handled<S, unknown>, 'state' | 'revision' | 'position' | 'events' | 'before'>>
  /** Returns the fields that were not restored, by the resulting resource, and whether it was deleted. */
  readonly lost: (after: S, isBack: boolean) => readonly NotRestored[] | Promise<readonly NotRestored[]>
}

/** A name that was taken meanwhile is a conflict with the present state, and not an invalid request. */
const conflict = (error: unknown, kind: ResourceKind): never => {
  if (!isNamed(kind) || !isRefused(error, 'taken')) throw error
  const { what, id = 0 } = error.problem.params
  if (what === 'own_host') return fail(409, 'not_restorable', { what, id })
  return fail(409, 'not_restorable', { what: kind })
}

/** Keeps `QR code` and `API key` as they are. */
const inSentence = (label: string) => label.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())

/**
 * Restores a resource, or only previews the change. Returns the answer. Fails with 409 when its name is taken, and with
 * 403 over a quota.
 */
export const restore = async <S>(
  call: Pick<Call, 'account' | 'may' | 'transaction'> & Writer,
  { quotas }: Pick<RestoreServices, 'quotas'>,
  { kind, label = kinds[kind].label, before, fields, isDeleted, dryRun, write, lost }: Restoring<S>,
) => {
  const end: EndReservation = isDeleted(before) && isOwned(kind) ? await quotas.reserve(call.account, kind) : () => {}
  try {
    const done = await (dryRun ? call.transaction(write, { dryRun }) : write(call)).catch((error: unknown) =>
      conflict(error, kind),
    )
    end(dryRun || done.events.length === 0 ? undefined : done.position)
    // a repeated request finds the resource as it has restored it
    const { before: was = before } = done
    const isBack = isDeleted(was)
    const changes = changesBetween(fields(was), fields(done.state))
    const changed = isBack || changes.length > 0
    const message = changed
      ? `${label} ${dryRun ? 'would be' : 'has been'} restored.`
      : `Nothing to restore: the ${inSentence(label)} is not deleted, and no field differs.`
    // a key that may only write must not read this way
    const shown = call.may('read') ? changes : changes.map(({ field }) => ({ field }))
    const notRestored = (await lost(done.state, isBack)).map(({ code, field, params }) => ({
      field,
      reason: sentenceOf({ code, params }),
      code,
      params,
    }))
    return { message, changes: shown, notRestored, ...(dryRun && { dryRun }), revision: done.revision }
  } catch (error) {
    end()
    throw error
  }
}
