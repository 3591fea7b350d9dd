/** One page of a list; `page` counts from 1. */
export interface Page {
  /** rows per page */
  readonly limit: number
  readonly page: number
}
export interface Listed<R> {
  readonly rows: readonly R[]
  /** number of matches on all pages */
  readonly total: number
}
export const offset = ({ limit, page }: Page) => (page - 1) * limit
