import { stopServer } from './server.ts'

export const mochaHooks = { afterAll: stopServer }
