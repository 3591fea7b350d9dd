/**
 * A mistake that an operator can correct: a setting, a command, a secret. Its message says how, so it is shown without
 * a stack.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError'
}
/** Throws an `OperatorError`. */
export const stop = (message: string): never => {
  throw new OperatorError(message)
}
