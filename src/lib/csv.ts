/**
 * What a spreadsheet runs as a formula: an operator at the beginning of a cell. Spreadsheets whose decimal mark is a
 * comma split a line at `;`, also within the quotes of a cell, and others at tabs.
 */
const formula = /(^|[;\t\r\n])(["' ]*)(?=[=+\-@＝＋－＠])/g

/** Control characters, which a terminal obeys, and those that turn the direction of text. Tabs and line ends stay. */
const unseen = /(?![\t\n\r])\p{Cc}|[\u2028-\u202e\u2066-\u2069]/gu

/**
 * Returns the cell of a text in a CSV file (RFC 4180). An apostrophe stands before whatever a spreadsheet would run, as
 * visitors choose some of these texts.
 */
export const textCell = (text: string): string => {
  const plain = text.replaceAll(unseen, ' ')
  const safe = plain.replace(formula, "$1$2'").replace(/^(?=[\t\r])/, "'")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** What a cell of a CSV file may have; nothing is an empty cell. */
export type Cell = string | number | boolean | null | undefined

/**
 * Returns a line of a CSV file, without its end. A line whose only cell is empty has quotes: readers skip empty lines.
 */
export const csvLine = (cells: readonly Cell[]): string =>
  cells.map((value) => (typeof value === 'string' ? textCell(value) : String(value ?? ''))).join() || '""'
