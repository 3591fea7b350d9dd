// node bench/misses.mjs ADDRESS AMOUNT RATE: asks for AMOUNT aliases that do not exist, each once and from an address of its own, as a
// proxy forwards it, on 32 connections. Prints the result of autocannon as JSON.
import autocannon from 'autocannon'

const [, , url = '', ...numbers] = process.argv
const [amount = 0, overallRate = 0] = numbers.map(Number)
let next = 0
/** @param {import('autocannon').Request} request */
const setupRequest = (request) => {
  const n = next++
  const address = [10, (n >> 16) & 255, (n >> 8) & 255, n & 255].join('.')
  return { ...request, path: `/never-${n}`, headers: { ...request.headers, 'x-forwarded-for': address } }
}
const result = await autocannon({
  ...{ url, amount, overallRate, connections: 32, timeout: 20, sampleInt: 20 },
  requests: [{ method: 'GET', headers: { accept: 'text/html' }, setupRequest }],
})
console.log(JSON.stringify(result))
