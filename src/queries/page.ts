/** Which part of a list is asked for; both count from 1. */
export interface Page {
  readonly limit: number
  readonly page: number
}
export interface Listed<R> {
  readonly rows: readonly R[]
  /** of all matches, on whichever page they are */
  readonly total: number
}
export const offset = ({ limit, page }: Page) => (page - 1) * limit
