import { expect } from 'chai'
import { ourHosts } from '../../src/app/hosts.ts'

const domain = { id: 1, account: 1, domain: 'https://brand.example', live: true, position: 1n }

describe('the hosts of the service', () => {
  const branded = { byHost: (host: string) => (host === 'brand.example' ? (domain as never) : undefined) }

  it('are the host of BASE_URL and the branded domains', () => {
    const { isOurHost, isMainHost } = ourHosts({ BASE_URL: 'https://Go.Example.com' }, branded)
    expect([isMainHost('go.example.com'), isMainHost('brand.example')]).to.deep.equal([true, false])
    expect(['GO.example.com', 'brand.example', 'example.com'].map(isOurHost)).to.deep.equal([true, true, false])
  })

  it('are localhost without BASE_URL', () => {
    const { isOurHost } = ourHosts({ BASE_URL: undefined }, branded)
    expect([isOurHost('localhost'), isOurHost('example.com')]).to.deep.equal([true, false])
  })
})
