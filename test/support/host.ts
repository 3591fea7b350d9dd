import { request } from 'node:http'

/** Requests a path with the given `Host` header, which `fetch` cannot set. */
export const visitAt = (address: string, host: string, path: string, headers: Readonly<Record<string, string>>) =>
  new Promise<{ readonly status: number; readonly location: string | undefined; readonly body: string }>(
    (resolve, reject) => {
      request(address + path, { headers: { ...headers, Host: host } }, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => (body += text))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, location: response.headers.location, body }),
        )
      })
        .on('error', reject)
        .end()
    },
  )
