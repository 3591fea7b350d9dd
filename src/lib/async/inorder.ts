/**
 * Runs the work for all items at once, except that an item waits for the earlier ones that share a key with it. Returns
 * the results in the order of the items. `work` must not reject.
 */
export const inOrder = <T, R>(
  items: readonly T[],
  keysOf: (item: T) => readonly string[],
  work: (item: T) => Promise<R>,
): Promise<R[]> => {
  const last = new Map<string, Promise<unknown>>()
  return Promise.all(
    items.map((item) => {
      const keys = keysOf(item)
      const before = keys.flatMap((key) => last.get(key) ?? [])
      const done = before.length === 0 ? work(item) : Promise.all(before).then(() => work(item))
      for (const key of keys) last.set(key, done)
      return done
    }),
  )
}
