import { sinkContract } from '../clicks/sink.contract.ts'
import { until } from '../support/client.ts'
import { given } from './broker.ts'
import { api } from './proxy.ts'
import { useTopic } from './topic.ts'

describe('the Kafka sink on a real broker', function () {
  this.timeout(300_000)
  const { proxy, openRecord, openSink, startRecorder, eventsIn } = useTopic()

  sinkContract('through Kafka, ON A REAL BROKER', async () => {
    const recorder = startRecorder()
    // a delivery may fail while the topic is being created
    await until(async () => recorder.state().connected, Boolean, 60_000)
    /** Cuts the connection in place of the next responses: the broker has stored what it was sent. */
    const disturb = (count: number) => {
      let left = count
      proxy().rewriteResponses((kind, response) => (kind === api.produce && left-- > 0 ? 'cut' : response))
    }
    return {
      open: () => openSink(openRecord()),
      recorded: eventsIn,
      // kafkajs itself repeats a request three times before it rejects
      disturb: given === undefined ? (count) => disturb(count * 3) : undefined,
    }
  })
})
