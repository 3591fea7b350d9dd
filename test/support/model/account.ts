import { expect } from 'chai'
import fc from 'fast-check'
import {
  type AccountModel,
  choose,
  chosen,
  command,
  instance,
  type Model,
  type ResourceModel,
  type World,
} from './world.ts'

const password = 'correct horse 1'

export const register = async (model: Model, world: World, n: number) => {
  const name = `${model.run}-${model.accounts.length}`
  const email = `${name}@example.com`
  const { json } = await world.write(n, 'POST', '/register', { body: { email, password } }, 200)
  world.newId('account', json['id'])
  const account: AccountModel = { id: json['id'], key: json['api_key'], username: json['username'], email, links: [] }
  expect(model.accounts.map(({ username }) => username)).not.to.include(account.username)
  model.accounts.push(account)
  // API keys are read from the tables only
  await world.holds(n, async (service) => expect((await service.get('/api/account', account)).status).to.equal(200))
}

const shows = ({ id, email, username }: AccountModel) => ({ id, email, username, status: 'pro' })

export const accounts: ResourceModel = {
  steps: [
    {
      weight: 10,
      arbitrary: instance.map((n) => command(`register on ${n}`, (model, world) => register(model, world, n))),
    },
    {
      weight: 10,
      arbitrary: fc.tuple(instance, chosen).map(([n, who]) =>
        command(`account ${who} read on ${n}`, async ({ accounts }, world) => {
          const account = choose(accounts, who)
          if (!account) return
          await world.holds(n, async (service) => {
            const { status, json } = await service.get('/api/account', { key: account.key })
            expect(status).to.equal(200)
            expect(json['data']).to.include(shows(account))
          })
        }),
      ),
    },
    {
      weight: 10,
      arbitrary: fc.tuple(instance, chosen, chosen).map(([n, who, whose]) =>
        command(
          `account ${who} requests the e-mail of ${whose} on ${n}, then a new one`,
          async ({ accounts, run }, world) => {
            const [account, other] = [choose(accounts, who), choose(accounts, whose)]
            if (!account || !other) return
            const change = (email: string, status: number) =>
              world.write(n, 'PUT', '/api/account/update', { key: account.key, body: { email } }, status)
            const { json } = await change(other.email.toUpperCase(), account === other ? 200 : 400)
            if (account !== other) expect(json['message']).to.include('`email` belongs to another account')
            account.email = `${run}-${account.id}-${whose}@example.com`
            await change(account.email, 200)
          },
        ),
      ),
    },
    {
      weight: 5,
      arbitrary: fc
        .tuple(instance, fc.constantFrom('', 'nonsense', `ll_${'a'.repeat(12)}_${'b'.repeat(38)}`))
        .map(([n, key]) =>
          command(`a stranger on ${n}`, async (_, world) => {
            const { service } = await world.up(n)
            expect((await service.get('/api/urls', { key })).status).to.equal(401)
            expect((await service.get('/api/account', { key })).status).to.equal(401)
          }),
        ),
    },
  ],
  expectAll: async ({ accounts }, service) => {
    for (const account of accounts) {
      const { json } = await service.get('/api/account', { key: account.key })
      expect(json['data']).to.include(shows(account))
    }
  },
}
