// tsx bench/followers.ts ADDRESS EACH KEY…: follows the clicks of each key's account with EACH streams, from now on.
// Prints "ready" when all of them are open. When its input ends, it prints how many lines each stream has received, as
// JSON.
import http from 'node:http'

interface Follower {
  lines: number
}

const [address = '', each, ...keys] = process.argv.slice(2)
const path = '/api/clicks?follow=true&from=now'
const newline = '\n'.charCodeAt(0)

const open = (key: string) =>
  new Promise<Follower>((resolve, reject) => {
    const follower: Follower = { lines: 0 }
    const asked = http.get(`${address}${path}`, { agent: false, headers: { authorization: `Bearer ${key}` } })
    asked.once('error', reject)
    asked.once('response', (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`a stream was answered with ${answer.statusCode}`))
      let last = newline
      answer.on('data', (part: Buffer) => {
        for (const byte of part) {
          // an empty line only shows that the stream is alive
          if (byte === newline && last !== newline) follower.lines++
          last = byte
        }
      })
      resolve(follower)
    })
  })

const followers: Follower[] = []
for (const key of keys) followers.push(...(await Promise.all(Array.from({ length: Number(each) }, () => open(key)))))
console.log('ready')
process.stdin.resume()
process.stdin.once('end', () => {
  console.log(JSON.stringify(followers.map(({ lines }) => lines)))
  process.exit()
})
