/** Formats an array literal of PostgreSQL, one value per item; numbers and times need no quotes. */
export const column = <T>(items: readonly T[], of: (item: T) => string | number | bigint) => `{${items.map(of).join()}}`
