import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

export interface LookupOptions {
  /** `address:port` of DNS servers; default those of the system */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
}
/** Returns all addresses of a host. Rejects when there are none, and when the signal aborts. */
export type Lookup = (host: string, signal: AbortSignal) => Promise<readonly string[]>

/** Returns the addresses of a name in the text of a hosts file (hosts(5)). */
const inHosts = (text: string, name: string) =>
  text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    return isIP(address) > 0 && names.includes(name) ? [address] : []
  })

/**
 * Returns a lookup that asks the hosts file, then DNS for both families. Not `dns.lookup`: that keeps one of libuv's
 * four threads until the system gives up, after our deadline, and a few such names would stop the files and hashes of
 * the process.
 */
export const createLookup =
  ({ servers, hostsFile = '/etc/hosts' }: LookupOptions = {}): Lookup =>
  async (host, signal) => {
    const name = host.toLowerCase().replace(/\.$/, '')
    const fixed = inHosts(await readFile(hostsFile, 'utf8').catch(() => ''), name)
    if (fixed.length > 0) return fixed
    signal.throwIfAborted()
    const resolver = new Resolver({ timeout: 2000, tries: 2 })
    if (servers) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel)
    try {
      const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      const found = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
      if (found.length === 0) throw four.status === 'rejected' ? four.reason : new Error(`${name} has no address`)
      return found
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
