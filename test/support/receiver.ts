import { setTimeout as sleep } from 'node:timers/promises'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { openPost } from '../../src/lib/post.ts'
import { until } from './client.ts'
import { ownPort } from './ports.ts'
import { startStub } from './stub.ts'

/** A message that has arrived, with any response. */
export interface Received {
  readonly id: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly accepted: boolean
}
/** Answers a message. Returns whether it accepts it. */
export type Behaviour = (res: ServerResponse, message: Pick<Received, 'id' | 'path'>) => boolean

export const accept: Behaviour = (res) => {
  res.writeHead(204).end()
  return true
}
export const respond =
  (status: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (res) => {
    res.writeHead(status, headers).end('no')
    return false
  }

/** Never answers. */
export const hang: Behaviour = () => false
/** Cuts the connection. */
export const reset: Behaviour = (res) => {
  res.destroy()
  return false
}
/** Takes the message, and cuts the connection instead of answering. */
export const forget: Behaviour = (res) => {
  res.destroy()
  return true
}
/** Answers after some ms. */
export const slowly =
  (ms: number): Behaviour =>
  (res) => {
    setTimeout(() => res.writeHead(200).end(), ms)
    return true
  }

/** Returns what a service needs to send to a receiver on this machine. */
export const postTo = (port: number, ms?: number) =>
  openPost({ resolve: async () => ['127.0.0.1'], denied: () => false, ports: [port] }, ms)

/**
 * Starts a receiver of webhooks on this machine. `post` sends to it in spite of its address, and waits `ms` for its
 * answers.
 */
export const startReceiver = async (ms?: number) => {
  const received: Received[] = []
  let behaviour: Behaviour = accept
  const listen = (port: number) =>
    startStub(
      (req, res) => {
        let body = ''
        req.on('data', (chunk: Buffer) => (body += chunk.toString()))
        req.on('error', () => {})
        req.on('end', () => {
          const id = String(req.headers['webhook-id'])
          const path = req.url ?? ''
          const accepted = behaviour(res, { id, path })
          const { type, data } = JSON.parse(body) as Pick<Received, 'type' | 'data'>
          received.push({ id, path, headers: req.headers, body, type, data, accepted })
        })
      },
      '127.0.0.1',
      port,
    )
  const port = await ownPort()
  let stub = await listen(port)
  const accepted = (path?: string) =>
    received.filter((one) => one.accepted && (path === undefined || one.path === path))
  return {
    port,
    url: (path = '/hook') => `http://hooks.example:${port}${path}`,
    received,
    accepted,
    /** Returns the ids of the messages that were accepted, each once, in the order of their first arrival. */
    ids: (path?: string) => [...new Set(accepted(path).map(({ id }) => id))],
    behave: (next: Behaviour) => {
      behaviour = next
    },
    /** Resolves with the accepted messages once one of them matches. */
    arrives: (matches: (message: Received) => boolean, ms?: number) =>
      until(
        async () => accepted(),
        (all) => all.some(matches),
        ms,
      ),
    /** Refuses connections for some ms. */
    down: async (ms: number) => {
      await stub.close()
      await sleep(ms)
      stub = await listen(port)
    },
    post: postTo(port, ms),
    close: () => stub.close(),
  }
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Throws unless the library of Standard Webhooks accepts the signature of a message. */
export const verify = (secret: string, { headers, body }: Pick<Received, 'headers' | 'body'>) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)
