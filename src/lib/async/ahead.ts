/**
 * Reads a source one item ahead, so that the next item is read while this one is processed. For sources that end by
 * themselves: leaving early waits for the item that is being read. An error is thrown after the items before it.
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

/**
 * Maps the items of a source that ends by itself, in its order, while up to `most` of them are being mapped. An error
 * is thrown when its turn comes.
 */
export const mapAhead = async function* <T, R>(
  source: AsyncIterable<T>,
  most: number,
  map: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const started: Promise<R>[] = []
  for await (const item of ahead(source)) {
    const result = map(item)
    result.catch(() => {})
    started.push(result)
    if (started.length >= most) yield await started.shift()!
  }
  for (const result of started) yield await result
}
