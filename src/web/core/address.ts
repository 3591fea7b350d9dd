/** Returns an address as people read it: without `https://`. */
export const withoutScheme = (address: string): string => address.replace(/^https?:\/\//, '')
