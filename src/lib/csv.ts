/**
 * Matches text that a spreadsheet runs as a formula: an operator at the beginning of a cell. Spreadsheets whose decimal
 * mark is a comma split a line at `;`, also within the quotes of a cell, and others at tabs.
 */
const formula = /(^|[;\t\r\n])(["' ]*)(?=[=+\-@＝＋－＠])/g

/** Control characters, which a terminal obeys, and those that turn the direction of text. Tabs and line ends stay. */
const unseen = /(?![\t\n\r])\p{Cc}|[\u2028-\u202e\u2066-\u2069]/gu

/**
 * Returns the cell of a text in a CSV file (RFC 4180). Prefixes text that a spreadsheet would run with an apostrophe,
 * because visitors choose some of these texts.
 */
export const textCell = (text: string): string => {
  const plain = text.replaceAll(unseen, ' ')
  const safe = plain.replace(formula, "$1$2'").replace(/^(?=[\t\r])/, "'")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The value of a CSV cell; null and undefined are an empty cell. */
export type Cell = string | number | boolean | null | undefined

/**
 * Returns a line of a CSV file, without its end. A line whose only cell is empty has quotes: readers skip empty lines.
 */
export const csvLine = (cells: readonly Cell[]): string =>
  cells.map((value) => (typeof value === 'string' ? textCell(value) : String(value ?? ''))).join() || '""'
