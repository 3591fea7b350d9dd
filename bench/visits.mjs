// node bench/visits.mjs ADDRESS ALIASES [AMOUNT]: visits `/a0`, `/a1`, … each once; or AMOUNT times on 32 connections, of which a few
// links get most (Zipf's law). With a path instead of ALIASES, all visits are for it. Prints the result of autocannon as JSON.
import autocannon from 'autocannon'

const [, , url = '', what = '', times] = process.argv
const [path, aliases] = what.startsWith('/') ? [what, 1] : [undefined, Number(what)]
const amount = times === undefined ? undefined : Number(times)
const headers = {
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  'accept-language': 'en-GB,en;q=0.9,de;q=0.5',
}
// the n-th alias is visited in proportion to 1/n
const requests = Array.from({ length: amount === undefined ? aliases : 4096 }, (_, n) => ({
  path: path ?? `/a${amount === undefined ? n : Math.floor(aliases ** Math.random()) - 1}`,
  headers,
}))
const connections = amount === undefined ? 1 : 32
const result = await autocannon({ url, amount: amount ?? aliases, connections, requests, timeout: 20 })
console.log(JSON.stringify(result))
