interface Waiting<Q, A> {
  readonly request: Q
  readonly resolve: (answer: A) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines requests that arrive while a call is under way into the next call, at most `most` of them. `work` returns one answer per
 * request, in the same order; when it rejects, so does each of its requests.
 */
export const batch = <Q, A>(
  most: number,
  work: (requests: readonly Q[]) => Promise<readonly A[]>,
): ((request: Q) => Promise<A>) => {
  const waiting: Waiting<Q, A>[] = []
  let running = false

  const run = async () => {
    while (waiting.length > 0) {
      const taken = waiting.splice(0, most)
      try {
        const answers = await work(taken.map(({ request }) => request))
        taken.forEach(({ resolve }, i) => resolve(answers[i] as A))
      } catch (error) {
        taken.forEach(({ reject }) => reject(error))
      }
    }
    running = false
  }

  return (request) =>
    new Promise<A>((resolve, reject) => {
      waiting.push({ request, resolve, reject })
      if (running) return
      running = true
      // requests of the same turn of the event loop share a call
      setImmediate(() => void run())
    })
}
