import { expect } from 'chai'
import { ourHosts } from '../../../src/app/site/hosts.ts'

const domain = { id: 1, account: 1, domain: 'https://brand.example', live: true, position: 1n }

describe('the hosts of the service', () => {
  const branded = { byHost: (host: string) => (host === 'brand.example' ? (domain as never) : undefined) }

  it('are the host of BASE_URL and the branded domains', () => {
    const { isOurHost, isMainHost } = ourHosts({ BASE_URL: 'https://Go.Example.com' }, branded)
    expect([isMainHost('go.example.com'), isMainHost('brand.example')]).to.deep.equal([true, false])
    expect(['GO.example.com', 'brand.example', 'example.com'].map(isOurHost)).to.deep.equal([true, true, false])
  })

  it('are every spelling of this machine, on a port of ours only', () => {
    const { isOurHost } = ourHosts({ BASE_URL: 'https://go.example.com' }, branded, () => [3000])
    const spellingVariants =
      'localhost LOCALHOST localhost. a.localhost 127.0.0.1 127.1 127.0.0.2 0x7f000001 2130706433 0177.0.0.1 0.0.0.0 [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1]'.split(
        ' ',
      )
    for (const host of spellingVariants) {
      expect(isOurHost(`${host}:3000`), host).to.equal(true)
      expect([isOurHost(`${host}:3001`), isOurHost(host)], host).to.deep.equal([false, false])
    }
    expect(isOurHost('example.localhost.com:3000')).to.equal(false)
    expect(isOurHost('[::ffff:192.0.2.1]:3000')).to.equal(false)
  })

  it('are the ports of a container that publishes another one', () => {
    const { isOurHost } = ourHosts({ BASE_URL: 'http://localhost:8080' }, branded, () => [3000])
    expect(['127.0.0.1:8080', '[::1]:8080', '127.0.0.1:3000', '127.0.0.1:8081'].map(isOurHost)).to.deep.equal([
      true,
      true,
      true,
      false,
    ])
    const published = ourHosts({ BASE_URL: 'https://localhost' }, branded, () => [3000])
    expect(published.isOurHost('127.0.0.1')).to.equal(true)
  })

  it('are an address in BASE_URL in every notation', () => {
    const { isOurHost } = ourHosts({ BASE_URL: 'http://203.0.113.5:3000' }, branded)
    for (const host of ['203.0.113.5', '203.0.113.5:81', '0xcb.0.0x71.5', '[::ffff:203.0.113.5]'])
      expect(isOurHost(host), host).to.equal(true)
  })

  it('are localhost without BASE_URL', () => {
    const { isOurHost } = ourHosts({ BASE_URL: undefined }, branded)
    expect([isOurHost('localhost'), isOurHost('example.com')]).to.deep.equal([true, false])
  })
})
