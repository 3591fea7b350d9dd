const days = 180

/**
 * Returns `/.well-known/security.txt`: where vulnerabilities are reported (RFC 9116). `contact` is an https or mailto
 * address. `Expires` is half a year ahead, since the file is as new as the settings of the service.
 */
export const securityTxt = (contact: string, now: Date) => {
  const expires = new Date(now.getTime() + days * 86_400_000)
  expires.setUTCHours(0, 0, 0, 0)
  return { type: 'text/plain; charset=utf-8', body: `Contact: ${contact}\nExpires: ${expires.toISOString()}\n` }
}
