/** A moment of the past that the dashboard shows. */
export interface Past {
  /** as the API takes it in `at` */
  readonly at: string
  readonly time: Date
}

/**
 * Reads a moment in the address of the page: a time, or an event together with its time, which the page then need not
 * look up.
 */
export const readPast = (text: string | null): Past | undefined => {
  const [, event, given] = /^(?:event:(\d{1,15})@)?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/.exec(text ?? '') ?? []
  const time = new Date(given ?? '')
  if (given === undefined || Number.isNaN(time.getTime())) return undefined
  return { at: event === undefined ? given : `event:${event}`, time }
}

/**
 * What the API answers for the present only: these requests never have `at`. Histories and revisions have a past there,
 * but here they lead to other moments, so that they show what came later, too.
 */
const presentOnly = [
  /\/history$/,
  /^\/api\/(?:sessions?|memberships)$/,
  /^\/api\/(?:clicks|events|export|import|misses|proof|proposals?|operator|account\/(?:approval|reclassify))(?:\/|$)/,
  /^\/api\/url\/\d+\/revisions$/,
  /^\/api\/webhook\/\d+\/deliveries$/,
  /^\/api\/account\/(?:export|totp)/,
]

/** Whether the API answers a path for the present only. */
export const isPresentOnly = (path: string): boolean => {
  const [name = ''] = path.split('?')
  return presentOnly.some((one) => one.test(name))
}
