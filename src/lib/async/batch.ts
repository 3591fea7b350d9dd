interface Waiting<Q, A> {
  readonly request: Q
  readonly resolve: (answer: A) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines requests of one turn of the event loop into a call, at most `most` of them, and those that arrive while
 * `parallel` calls are under way into the next ones. `work` returns one answer per request, in the same order; when it
 * rejects, so does each of its requests.
 */
export const batch = <Q, A>(
  most: number,
  work: (requests: readonly Q[]) => Promise<readonly A[]>,
  parallel = 1,
): ((request: Q) => Promise<A>) => {
  const waiting: Waiting<Q, A>[] = []
  let running = 0

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
    running--
  }

  return (request) =>
    new Promise<A>((resolve, reject) => {
      waiting.push({ request, resolve, reject })
      // requests of the same turn of the event loop share a call
      if (running === parallel || waiting.length > 1) return
      running++
      setImmediate(() => void run())
    })
}
