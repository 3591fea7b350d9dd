/** Where the entries of a spool up to a sequence number of one partition are. */
export interface Spooled {
  readonly partition: number
  readonly seq: number
}

/** A person whom a link has let through. */
interface Ticket {
  readonly at: number
  /** sequence number up to which the spool has the visit */
  seq?: number
  /** of the event that recorded the click */
  position?: bigint
}

/**
 * The people whom this process has let through links that end with a number of clicks, until the read tables have their
 * clicks.
 */
export interface Admitted {
  readonly count: (link: number) => number
  /** Adds a person. Call the result once the visit is in the spool, or with false when it is not taken. */
  readonly add: (link: number) => (isKept: boolean) => void
  /** Forgets those whose clicks the tables have, which contain the log up to this position. */
  readonly forget: (link: number, position: bigint) => void
  /**
   * Returns the position up to which the tables have to contain the log before they have all clicks of earlier
   * processes; undefined while that is not known.
   */
  readonly start: () => bigint | undefined
  /** Follows the clicks of the process: `spooledUpTo` returns how far the spool has the visits of a link. */
  readonly follow: (spooledUpTo: (link: number) => Spooled) => void
  /** The log has the clicks of earlier processes up to this position. */
  readonly startAt: (position: bigint) => void
  /** The log has the entries up to these at this position. */
  readonly recorded: (upTo: Spooled, position: bigint) => void
}

/** ms after which a click counts as projected, if this process cannot know when it was recorded: with Kafka */
const longestMs = 5000

export const createAdmitted = (now: () => number = () => performance.now()): Admitted => {
  const tickets = new Map<number, readonly Ticket[]>()
  /** those that are in the spool and not in the log, by partition, in order */
  const spooled = new Map<number, Ticket[]>()
  let spooledUpTo: ((link: number) => Spooled) | undefined
  let start: bigint | undefined = 0n

  const keep = (link: number, keeps: (ticket: Ticket) => boolean) => {
    const left = tickets.get(link)?.filter(keeps) ?? []
    if (left.length > 0) tickets.set(link, left)
    else tickets.delete(link)
  }

  const isProjected = ({ at, position }: Ticket, upTo: bigint) =>
    position === undefined ? !spooledUpTo && now() - at > longestMs : position <= upTo

  return {
    count: (link) => tickets.get(link)?.length ?? 0,
    add: (link) => {
      const ticket: Ticket = { at: now() }
      tickets.set(link, [...(tickets.get(link) ?? []), ticket])
      return (isKept) => {
        if (!isKept) return keep(link, (one) => one !== ticket)
        const upTo = spooledUpTo?.(link)
        if (!upTo) return
        ticket.seq = upTo.seq
        spooled.set(upTo.partition, [...(spooled.get(upTo.partition) ?? []), ticket])
      }
    },
    forget: (link, position) => keep(link, (ticket) => !isProjected(ticket, position)),
    start: () => start,
    follow: (upTo) => {
      spooledUpTo = upTo
      start = undefined
    },
    startAt: (position) => void (start = position),
    recorded: ({ partition, seq }, position) => {
      const waiting = spooled.get(partition) ?? []
      for (const ticket of waiting) if ((ticket.seq ?? 0) <= seq) ticket.position = position
      spooled.set(
        partition,
        waiting.filter((ticket) => ticket.position === undefined),
      )
    },
  }
}
