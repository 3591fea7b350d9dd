import { account } from '../commands/account.ts'
import { register, Registration } from '../commands/register.ts'
import { route } from './api/route.ts'

export const registerRoutes = [
  route({
    method: 'post',
    path: '/register',
    public: true,
    body: Registration,
    run: ({ body, create }, { pepper }) => register(pepper, body, (make) => create('account', account, make)),
  }),
]
