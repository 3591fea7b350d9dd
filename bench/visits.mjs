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
const requests = Array.from({ length: amount === undefined ? aliases : Math.min(4096, amount) }, (_, n) => ({
  path: path ?? `/a${amount === undefined ? n : Math.floor(aliases ** Math.random()) - 1}`,
  headers,
}))
const connections = amount === undefined ? 1 : 32
// autocannon takes a second to prepare, and sees the end up to a second late
let [first, last] = [0, 0]
const options = { url, amount: amount ?? aliases, connections, requests, timeout: 20 }
const run = autocannon(options, (error, result) => {
  if (error) throw error
  console.log(JSON.stringify({ ...result, duration: (last - first) / 1000 }))
})
run.on('response', () => {
  last = performance.now()
  first ||= last
})
