/** Whether every event store and every table keeps a string unchanged. */
export const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0')

/** Returns a string as every table keeps it: what cannot be stored becomes U+FFFD. */
export const storable = (text: string) => (isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD'))
