/**
 * Reads a source one item ahead, so that the next item is read while this one is processed. For sources that end by themselves: leaving early
 * waits for the item that is being read. An error is thrown after the items before it.
 */
export const ahead = async function* <T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  const items = source[Symbol.asyncIterator]()
  const read = () => {
    const next = items.next()
    // it is thrown when its turn comes
    next.catch(() => {})
    return next
  }
  try {
    for (let next = read(); ;) {
      const { done, value } = await next
      if (done) return
      next = read()
      yield value
    }
  } finally {
    await items.return?.()
  }
}
