// `npm run sdk`: makes the package of the client, so that it can be packed or published.
import { makeClient } from './make.ts'

makeClient()
