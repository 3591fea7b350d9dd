import { problem, type Problem, sentenceOf, type Rest } from '../lib/problems/problem.ts'

/** An uploaded picture cannot be used. */
export class BadPicture extends Error {
  override readonly name = 'BadPicture'
  readonly problem: Problem
  constructor(reason: Problem) {
    super(sentenceOf(reason))
    this.problem = reason
  }
}
/** Throws `BadPicture`. */
export const refusePicture = (...rest: Rest<'bad_picture'>): never => {
  throw new BadPicture(problem('bad_picture', ...rest))
}
