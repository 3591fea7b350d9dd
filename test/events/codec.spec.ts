import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { codec, type Raw, Unreadable } from '../../src/events/codec.ts'
import type { New } from '../../src/events/event.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import { seal } from '../../src/security/seal.ts'
import { metadata } from '../support/events.ts'
import { memoryKeyring } from '../support/keyring.ts'

const said = { id: 9, email: 'ann@example.com', username: 'ann', password: 'hash', emailToken: 't', usernameToken: 'u' }
const registered: New<DomainEvent> = {
  id: randomUUID(),
  type: 'AccountRegistered',
  data: said,
  metadata: metadata(9),
}
const stored = (data: object): Raw => ({
  id: registered.id,
  stream: 'account-9',
  revision: 0n,
  position: 1n,
  at: registered.metadata.at,
  type: registered.type,
  data,
  metadata: registered.metadata,
})
const silenced = { ...said, email: null, username: null, password: null }

describe('personal fields of an event', () => {
  const keyring = memoryKeyring()
  const { encode, decode } = codec(keyring)
  const sealed = async () => JSON.parse((await encode(registered)).data) as Record<string, string>
  const read = async (data: object) => (await decode([stored(data)]))[0]?.data

  it('are sealed in the log, each time differently, and read as they were', async () => {
    const [one, two] = [await sealed(), await sealed()]
    expect(JSON.stringify(one)).not.to.match(/ann|hash/)
    expect(one['email']).not.to.equal(two['email'])
    expect(await read(one)).to.deep.equal(said)
  })

  it('are null once their key is destroyed, also when the account has been given another since', async () => {
    const before = await sealed()
    keyring.destroy(9)
    expect(await read(before)).to.deep.equal(silenced)
    const after = await sealed()
    expect(await read(before)).to.deep.equal(silenced)
    expect(await read(after)).to.deep.equal(said)
  })

  it('cannot be changed or moved into another field', async () => {
    const data = await sealed()
    const { email = '' } = data
    const changed = email.slice(0, -2) + (email.endsWith('AA') ? 'BB' : 'AA')
    for (const wrong of [{ email: changed }, { email: data['username'] }])
      expect(await read({ ...data, ...wrong }).catch((error: unknown) => error)).to.be.instanceOf(Unreadable)
  })

  it('are read as well when they were sealed before seals were marked with their key', async () => {
    const key = (await keyring.forSealing(9))!
    const old = (field: 'email' | 'username' | 'password') => seal(key, `9/AccountRegistered/${field}`, said[field])
    const data = { ...said, email: old('email'), username: old('username'), password: old('password') }
    expect(await read(data)).to.deep.equal(said)
    keyring.destroy(9)
    expect(await read(data)).to.deep.equal(silenced)
  })
})
