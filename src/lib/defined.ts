/**
 * The entries of an object whose value is not undefined: a field that was not sent must not overwrite one that is
 * stored. Returns the object itself when it has no others: a copy by its entries is one that V8 reads and copies
 * several times more slowly.
 */
export const defined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } => {
  const values: readonly unknown[] = Object.values(fields)
  if (!values.includes(undefined)) return fields as never
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
