import { pino } from 'pino'
import { startApp } from '../../src/app/service.ts'
import { readConfig } from '../../src/config.ts'
import { postTo } from '../support/receiver.ts'

/**
 * `webhooks-service.ts <port>`: a service that sends webhooks to a port of this machine, which no setting allows.
 * Prints where it listens.
 */
const config = readConfig({ PORT: '0', LOG_LEVEL: 'silent', RATE_LIMIT_PER_MINUTE: '0', ...process.env })
const post = postTo(Number(process.argv[2]), 500)
const app = await startApp(config, pino({ level: 'silent' }), {
  inOneThread: true,
  webhooks: { post, firstPause: 20 },
})
process.stdout.write(`listens on ${app.address}\n`)
