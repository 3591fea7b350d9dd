import { hostname, networkInterfaces } from 'node:os'
import type { Domains } from '../../cache/domains.ts'
import type { Config } from '../../config.ts'
import { plainAddress } from '../../lib/address.ts'
import { isLoopback } from '../../lib/loopback.ts'
import { normalHost } from '../../lib/url.ts'

/** Returns the name of this machine and all its addresses. */
const namesOfMachine = () =>
  [
    normalHost(hostname()),
    ...Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => plainAddress(address))),
  ].filter(Boolean)

/** Connections to the unspecified addresses come to this machine, too. */
const isLocal = (name: string) => isLoopback(name) || name === '0.0.0.0' || name === '::'

/** Returns the one spelling of a name or an IP address: IPv6 without brackets, IPv4-mapped addresses as IPv4. */
const canonical = (host: string) => {
  const normal = normalHost(host)
  return normal.startsWith('[') ? plainAddress(normal.slice(1, -1)) : normal
}
const portOf = (host: string) => Number(/:(\d{1,5})$/.exec(host)?.[1] ?? 0)

/** Returns a test for the hosts of OWN_HOSTS, which branded domains cannot have. */
export const isOperatorHost = ({ OWN_HOSTS }: Pick<Config, 'OWN_HOSTS'>) => {
  const own = new Set(OWN_HOSTS.map(normalHost))
  return (host: string) => own.has(normalHost(host))
}

/**
 * Returns a test for the hosts on which the dashboard and its sessions are: with a public BASE_URL that host, those of
 * OWN_HOSTS and this machine. Any other name may be one that a stranger points here today, and elsewhere tomorrow.
 */
export const dashboardHosts = (config: Pick<Config, 'BASE_URL' | 'OWN_HOSTS'>) => {
  const main = config.BASE_URL === undefined ? 'localhost' : canonical(new URL(config.BASE_URL).hostname)
  if (isLocal(main)) return () => true
  const isOwn = isOperatorHost(config)
  return (host: string) => {
    const name = canonical(host)
    return name === main || isLocal(name) || isOwn(host)
  }
}

/**
 * Returns tests for hosts, as a `Host` header or a URL has them. `ports` returns the ports on which this process
 * listens: there, each name of the machine leads to the service. Without a port, a host is on one of the default ports.
 */
export const ourHosts = (
  { BASE_URL }: Pick<Config, 'BASE_URL'>,
  domains: Pick<Domains, 'byHost'>,
  ports: () => readonly number[] = () => [],
) => {
  const base = new URL(BASE_URL ?? 'http://localhost')
  const main = canonical(base.hostname)
  const machine = new Set(namesOfMachine())
  // a proxy or a container on this machine may listen on another port for us
  const ofBase = isLocal(main) && BASE_URL !== undefined ? [Number(base.port) || 80, Number(base.port) || 443] : []
  const isOurPort = (port: number) => {
    const ours = [...ports(), ...ofBase]
    return port === 0 ? ours.includes(80) || ours.includes(443) : ours.includes(port)
  }
  const isThisMachine = (host: string, name: string) => (isLocal(name) || machine.has(name)) && isOurPort(portOf(host))

  /** Returns whether this is the host of BASE_URL on any port, or this machine on a port of ours. */
  const isMainHost = (host: string) => {
    const name = canonical(host)
    return name === main || isThisMachine(host, name)
  }
  /** Returns whether this is a main host or a branded domain. */
  const isOurHost = (host: string) =>
    isMainHost(host) || [host, normalHost(host)].some((name) => domains.byHost(name) !== undefined)
  /** Returns whether the host, as it is written, is that of BASE_URL or of a branded domain. */
  const servesHost = (host: string) => host.toLowerCase() === base.hostname || domains.byHost(host) !== undefined
  return { isMainHost, isOurHost, servesHost }
}
