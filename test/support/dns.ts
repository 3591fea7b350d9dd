import type { Resolver } from '../../src/lib/dns.ts'

const failure = (code: string) => Object.assign(new Error(code), { code })

/** A fake of the name servers. A name without records does not exist; one in `silent` gets no answer. */
export const fakeDns = () => {
  const records = {
    a: new Map<string, readonly string[]>(),
    cname: new Map<string, readonly string[]>(),
    txt: new Map<string, readonly string[]>(),
  }
  const silent = new Set<string>()
  let asked = 0
  const find = async (kind: ReadonlyMap<string, readonly string[]>, host: string): Promise<string[]> => {
    asked++
    if (silent.has(host)) throw failure('ETIMEOUT')
    const found = kind.get(host)
    if (!found) throw failure('ENOTFOUND')
    return [...found]
  }
  const resolver: Resolver = {
    resolve4: (host) => find(records.a, host),
    resolve6: () => Promise.reject(failure('ENODATA')),
    resolveCname: (host) => find(records.cname, host),
    // DNS keeps a long text in parts
    resolveTxt: async (host) => (await find(records.txt, host)).map((text) => [text.slice(0, 10), text.slice(10)]),
  }
  return { ...records, silent, resolver, asked: () => asked }
}
