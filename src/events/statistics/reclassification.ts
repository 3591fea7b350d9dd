import { z } from 'zod'
import { VisitorClass } from './click.ts'
import type { EventOf } from '../event.ts'
import { Exclusions } from './exclusions.ts'
import { openEnum } from '../openenum.ts'

const reclassification = z.uuid()

const ids = z.array(z.int()).max(500)

/**
 * In the stream of a reclassification. Statistics apply them in log order to the visits that were recorded before them;
 * the recorded visits stay as they are.
 */
export const reclassificationEvents = {
  /**
   * One part of a reclassification: visits of some resources of an account, between two moments (`to` is exclusive).
   * `since`: visits before it are not kept one by one, and none of them becomes the first of a person. A visit whose
   * user agent is in `agents` has the class that is named there; any other keeps its recorded class. A person's visit
   * that `exclusions` name has the class `excluded`. The event stores the outcome of rules instead of the rules, so
   * that a replay gives the same classes in every release.
   */
  ClicksReclassified: z.object({
    reclassification,
    account: z.int(),
    /** counts up from 0 */
    part: z.int(),
    /** what was visited: links, QR codes and entries of bio pages that lead to no link, and bio pages themselves */
    link: ids,
    qr: ids,
    bio: ids,
    view: ids,
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    since: z.iso.datetime(),
    /** version of the rules */
    rules: z.int(),
    /**
     * user agents as clicks have them: their words, the part that matched a rule, and the version of the rules that
     * classified them
     */
    agents: z.array(
      z.object({ agent: z.string(), bot: z.string().nullable(), rules: z.int(), class: openEnum(VisitorClass) }),
    ),
    exclusions: Exclusions,
  }),
  /**
   * A part was undone, except for visits before `since`, which are no longer kept one by one. Parts are undone in
   * reverse order.
   */
  ReclassificationUndone: z.object({ reclassification, account: z.int(), part: z.int(), since: z.iso.datetime() }),
}
export type ReclassificationEvent = EventOf<typeof reclassificationEvents>
