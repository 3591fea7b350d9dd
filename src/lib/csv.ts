/**
 * What a spreadsheet runs as a formula: an operator at the beginning of a cell. Spreadsheets whose decimal mark is a
 * comma split a line at `;`, also within the quotes of a cell, and others at tabs.
 */
const formula = /(^|[;\t\r\n])(["' ]*)(?=[=+\-@＝＋－＠])/g

/**
 * Returns the cell of a text in a CSV file (RFC 4180). An apostrophe stands before whatever a spreadsheet would run, as
 * visitors choose some of these texts.
 */
export const textCell = (text: string): string => {
  const safe = text.replace(formula, "$1$2'").replace(/^(?=[\t\r])/, "'")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
