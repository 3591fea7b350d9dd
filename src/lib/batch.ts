interface Waiting<Q, A> {
  readonly question: Q
  readonly resolve: (answer: A) => void
  readonly reject: (error: unknown) => void
}

/** Questions that come while one is under way are asked together, at most so many; `ask` gives their answers in the same order. */
export const batch = <Q, A>(most: number, ask: (questions: readonly Q[]) => Promise<readonly A[]>) => {
  const waiting: Waiting<Q, A>[] = []
  let asking = false

  const run = async () => {
    while (waiting.length > 0) {
      const taken = waiting.splice(0, most)
      try {
        const answers = await ask(taken.map(({ question }) => question))
        taken.forEach(({ resolve }, i) => resolve(answers[i] as A))
      } catch (error) {
        taken.forEach(({ reject }) => reject(error))
      }
    }
    asking = false
  }

  return (question: Q) =>
    new Promise<A>((resolve, reject) => {
      waiting.push({ question, resolve, reject })
      if (asking) return
      asking = true
      // what comes in the same turn of the event loop goes along
      setImmediate(() => void run())
    })
}
