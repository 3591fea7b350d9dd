import { expect } from 'chai'
import { createDomainCheck, domainToken } from '../../../src/commands/domains/check.ts'
import { fakeDns } from '../../support/dns.ts'
import { turnGrowth } from '../../support/turns.ts'

const pepper = Buffer.alloc(32, 7)
const host = 'go.example'

describe('the check of a branded domain', () => {
  const { resolver, txt, a, silent } = fakeDns()
  const check = (proof: 'txt' | 'dns') => createDomainCheck({ proof, targets: ['203.0.113.9'], resolver, pepper })
  beforeEach(() => {
    for (const records of [txt, a, silent]) records.clear()
  })
  const setRecord = (value: string) => txt.set(`_linkledger.${host}`, ['other', value])

  it('asks each account for a value of its own, the same for all its domains', () => {
    const { recordFor } = check('txt')
    expect(recordFor(1, host)).to.deep.equal({ name: '_linkledger.go.example', value: domainToken(pepper, 1) })
    expect(recordFor(1, 'b.example').value).to.equal(recordFor(1, host).value)
    expect(recordFor(2, host).value).not.to.equal(recordFor(1, host).value)
    expect(domainToken(Buffer.alloc(32, 8), 1)).not.to.equal(domainToken(pepper, 1))
  })

  it('proves a domain by the record of the account, and with `dns` only together with its addresses', async () => {
    const proves = async (proof: 'txt' | 'dns', account = 1) =>
      check(proof).proves(await check(proof).look(account, host))
    setRecord(domainToken(pepper, 1))
    expect([await proves('txt'), await proves('txt', 2), await proves('dns')]).to.deep.equal([true, false, false])
    a.set(host, ['203.0.113.9'])
    expect(await proves('dns')).to.equal(true)
    setRecord(`"${domainToken(pepper, 1)}"`)
    expect(await proves('dns')).to.equal(true)
    silent.add(`_linkledger.${host}`)
    expect(await proves('dns')).to.equal(false)
  })

  it('does not expect a record of a domain that an older release has verified without one', async () => {
    const lost = async (proof: 'txt' | 'dns', verifiedBy: string) =>
      check(proof).lost(await check(proof).look(1, host), verifiedBy)
    a.set(host, ['203.0.113.9'])
    expect([await lost('txt', 'off'), await lost('dns', 'off')]).to.deep.equal([false, false])
    expect([await lost('txt', 'txt'), await lost('dns', 'txt')]).to.deep.equal([true, true])
    a.set(host, ['192.0.2.1'])
    expect([await lost('txt', 'off'), await lost('dns', 'off')]).to.deep.equal([false, true])
  })

  it('does not report lost records of a domain while the name servers do not respond', async () => {
    const lost = async (proof: 'txt' | 'dns') => check(proof).lost(await check(proof).look(1, host), 'txt')
    silent.add(`_linkledger.${host}`)
    expect(await lost('txt')).to.equal(undefined)
    silent.add(host)
    expect(await lost('dns')).to.equal(undefined)
  })

  it('keeps only some of the records that it finds, and not all of a long one', async () => {
    txt.set(`_linkledger.${host}`, [...Array<string>(50).fill('x'.repeat(4000)), domainToken(pepper, 1)])
    const look = await check('txt').look(1, host)
    expect(look.hasRecord).to.equal(true)
    expect([look.txt!.length, look.txt![0]!.length]).to.deep.equal([10, 255])
  })

  it('finds the record with spaces and quotation marks around it', async () => {
    for (const value of [' TOKEN ', '"TOKEN"', ' " TOKEN" ', `TOKEN${' '.repeat(100)}`]) {
      setRecord(value.replace('TOKEN', domainToken(pepper, 1)))
      expect((await check('txt').look(1, host)).hasRecord, value).to.equal(true)
    }
  })

  it('takes time in proportion to the length of a record, for any content', async () => {
    for (const hard of [' ', '"', ' "', 'x ']) {
      const look = async (value: string) => {
        setRecord(value)
        expect((await check('txt').look(1, host)).hasRecord).to.equal(false)
      }
      const valueOf = (length: number) => `x${hard.repeat(length / hard.length)}x`
      expect(await turnGrowth(valueOf, look, { from: 1000, to: 64_000 }), `"${hard}"`).to.be.at.most(3)
    }
  })
})
