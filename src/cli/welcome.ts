import { backchannelAddress, redirectAddress } from '../app/accounts/signin.ts'
import type { Config } from '../config.ts'

type Places = Pick<Config, 'DATA_DIR' | 'DATABASE_URL' | 'EVENTSTORE_URL' | 'KAFKA_BROKERS' | 'KAFKA_TOPIC'>

/** Returns where the data is kept: always in DATA_DIR, and in the servers that the settings name. */
const placesOf = ({ DATA_DIR, DATABASE_URL, EVENTSTORE_URL, KAFKA_BROKERS, KAFKA_TOPIC }: Places) =>
  new Intl.ListFormat('en').format([
    ...(EVENTSTORE_URL === undefined ? [] : ['the EventStoreDB of EVENTSTORE_URL']),
    ...(DATABASE_URL === undefined ? [] : ['the database of DATABASE_URL']),
    ...(KAFKA_BROKERS.length === 0 ? [] : [`the Kafka topic ${KAFKA_TOPIC}`]),
    DATA_DIR,
  ])

interface Started {
  readonly config: Places & Pick<Config, 'ROLES' | 'REGISTRATION' | 'OIDC_ISSUER'>
  /** where it listens: http://host:port */
  readonly address: string
  /** where metrics are: http://host:port */
  readonly operatorAddress: string
  /** what short links start with */
  readonly baseUrl: string
  /** whether nothing was ever stored */
  readonly isNew: boolean
  /** address of a page that makes the first account, where it is needed */
  readonly firstAccount?: string | undefined
}

/** Returns what the service prints once it listens: a tour while nothing is stored, later one line. */
export const welcome = (started: Started): string => {
  const { config, address, operatorAddress, baseUrl, isNew, firstAccount } = started
  const metrics = `metrics: ${operatorAddress}/metrics`
  if (!config.ROLES.has('http'))
    return `Linkledger listens on ${address} for probes and runs the roles ${[...config.ROLES].join(', ')} (${metrics}).`
  const { OIDC_ISSUER } = config
  const signIn =
    OIDC_ISSUER === undefined
      ? ''
      : `\n${OIDC_ISSUER} signs people in. It must know exactly this redirect address: ${redirectAddress(baseUrl)} (and may send back-channel logouts to ${backchannelAddress(baseUrl)})`
  const heading = `Linkledger listens on ${address} and its short links start with ${baseUrl}`
  if (isNew)
    return `\n${heading}${signIn}\n${tour(started)}\nStop the service with Ctrl-C. All data is kept in ${placesOf(config)} (${metrics}).\n`
  const line = `${heading} (dashboard: ${baseUrl}/dashboard; API: ${baseUrl}/docs; data: ${placesOf(config)}; ${metrics}).${signIn}`
  return firstAccount === undefined
    ? line
    : `${line}\nCreate the first account with this link, which works once: ${firstAccount}`
}

/** Returns what the service prints when it listens, but cannot serve anything before its event store is there. */
export const waitingLine = (
  { address, operatorAddress }: Pick<Started, 'address' | 'operatorAddress'>,
  problem: string,
) =>
  `Linkledger listens on ${address} and waits for its event store: ${problem} (readiness: ${operatorAddress}/readyz).`

/** Returns what the service prints when it has stopped. */
export const farewell = (config: Places) => `Stopped. All data is kept in ${placesOf(config)}.`

const register = (baseUrl: string) =>
  `  # create an account; the response contains your API key, which is shown only once
  curl -X POST ${baseUrl}/register -H 'content-type: application/json' -d '{"email":"ann@example.com","password":"correct horse 1"}'
  KEY=…  # the api_key of the response`

const addAccount = `  # create an account; the command prints your API key, which is shown only once
  linkledger account add ann@example.com
  KEY=…  # the API key`

const openFirst = (firstAccount: string) =>
  `  # create the first account: open this link, which works once, or run linkledger account add ann@example.com
  ${firstAccount}
  KEY=…  # the API key`

const createAccount = ({ config, baseUrl, firstAccount }: Started) => {
  if (config.REGISTRATION === 'open') return register(baseUrl)
  return firstAccount === undefined ? addAccount : openFirst(firstAccount)
}

const tour = (started: Started) => `
Open the dashboard: ${started.baseUrl}/dashboard

Or try it in another terminal:

${createAccount(started)}

  # create a short link
  curl -X POST ${started.baseUrl}/api/url/add -H "Authorization: Bearer $KEY" -H 'content-type: application/json' -d '{"url":"https://example.com/a?b=c#d","custom":"hello"}'

  # follow it, then see the click counted
  curl -i ${started.baseUrl}/hello
  curl ${started.baseUrl}/api/url/1 -H "Authorization: Bearer $KEY"

All of the API is at ${started.baseUrl}/docs
`
