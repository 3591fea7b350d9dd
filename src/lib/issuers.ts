/**
 * Returns the spellings of the address of an issuer that mean the same, as given first: some write a slash behind their
 * host, and others of the same address do not. A path is compared letter by letter.
 */
export const spellingsOf = (issuer: string): readonly string[] => {
  const [, rest] = /^https?:\/\/(.+)$/i.exec(issuer) ?? []
  if (rest === undefined) return [issuer]
  try {
    const { href } = new URL(issuer)
    const bare = href.replace(/^(https?:\/\/[^/]+)\/$/, '$1')
    return [...new Set([issuer, href, bare])]
  } catch {
    return [issuer]
  }
}

export const isSameIssuer = (one: string, other: string): boolean => {
  const all = spellingsOf(other)
  return spellingsOf(one).some((spelling) => all.includes(spelling))
}
