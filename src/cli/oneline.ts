/**
 * Returns a text that cannot move the cursor or change the colors of a terminal, on one line. Visitors write some of
 * what is printed.
 */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')

/** Returns a text of several lines that cannot move the cursor or change the colors of a terminal. */
export const printable = (text: string): string => text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ')
