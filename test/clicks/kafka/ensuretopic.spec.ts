import { expect } from 'chai'
import { ensureTopic } from '../../../src/clicks/kafka/ensuretopic.ts'

type Admin = Parameters<typeof ensureTopic>[0]
type CreatedTopic = Parameters<Admin['createTopics']>[0]['topics'][number]

const healthy = {
  'cleanup.policy': 'delete',
  'retention.ms': String(7 * 24 * 3600 * 1000),
  'min.insync.replicas': '2',
  'unclean.leader.election.enable': 'false',
}

describe('the promises of the click topic', () => {
  /** A cluster whose topic has so many replicas of each partition; undefined: there is no topic. */
  const setUp = (brokers: number, replicas?: number, configs: Partial<typeof healthy> = {}) => {
    const created: CreatedTopic[] = []
    const copies = () => replicas ?? created[0]?.replicationFactor ?? 0
    const ids = (count: number) => Array.from({ length: count }, (_, nodeId) => nodeId)
    const entries = () =>
      Object.entries({
        ...healthy,
        ...configs,
        ...Object.fromEntries(created[0]?.configEntries?.map(({ name, value }) => [name, value]) ?? []),
      }).map(([configName, configValue]) => ({ configName, configValue }))
    const admin = {
      listTopics: async () => (replicas === undefined ? [] : ['t']),
      createTopics: async ({ topics }: { topics: CreatedTopic[] }) => created.push(...topics) > 0,
      describeCluster: async () => ({ brokers: ids(brokers).map((nodeId) => ({ nodeId, host: 'h', port: 1 })) }),
      fetchTopicMetadata: async () => ({
        topics: [{ name: 't', partitions: [0, 1].map((partitionId) => ({ partitionId, replicas: ids(copies()) })) }],
      }),
      describeConfigs: async () => ({ resources: [{ configEntries: entries() }] }),
    } as unknown as Admin
    const check = async (replication?: number) => {
      let weaknesses: readonly string[] = []
      const record = { partitions: 2, lastMessage: async () => undefined }
      const onTopicChecked = (found: readonly string[]) => void (weaknesses = found)
      await ensureTopic(admin, { topic: 't', replication, onTopicChecked }, record)
      return weaknesses
    }
    return { check, created }
  }
  const createdWith = async (brokers: number, replication?: number) => {
    const { check, created } = setUp(brokers)
    expect(await check(replication)).to.deep.equal([])
    const inSync = created[0]?.configEntries?.find(({ name }) => name === 'min.insync.replicas')?.value
    return [created[0]?.replicationFactor, inSync]
  }

  it('are set when it is created: three copies, or as many as there are brokers, and two that must have a click', async () => {
    expect(await createdWith(1)).to.deep.equal([1, '1'])
    expect(await createdWith(2)).to.deep.equal([2, '2'])
    expect(await createdWith(5)).to.deep.equal([3, '2'])
    expect(await createdWith(5, 4)).to.deep.equal([4, '2'])
    expect(await createdWith(3, 1)).to.deep.equal([1, '1'])
  })

  it('are refused when there are not enough brokers for KAFKA_REPLICATION', async () => {
    const failed = await setUp(1).check(3).catch(String)
    expect(failed).to.include(
      'KAFKA_REPLICATION is 3, but Kafka has only 1 running brokers: set KAFKA_REPLICATION to 1',
    )
  })

  it('are reported when an existing topic is weaker, each with the setting to change', async () => {
    expect(await setUp(3, 3).check()).to.deep.equal([])
    expect((await setUp(3, 1, { 'min.insync.replicas': '1' }).check()).join()).to.match(
      /^the topic t has 1 of 3 replicas, .*KAFKA_REPLICATION to 1$/,
    )
    expect(await setUp(3, 1, { 'min.insync.replicas': '1' }).check(1)).to.deep.equal([])
    expect((await setUp(3, 3, { 'min.insync.replicas': '1' }).check()).join()).to.include(
      'set min.insync.replicas to 2',
    )
    expect((await setUp(3, 3, { 'unclean.leader.election.enable': 'true' }).check()).join()).to.include('to false')
    expect((await setUp(3, 3, { 'retention.ms': '3600000' }).check()).join()).to.include('after 1.0 hours')
    expect(await setUp(3, 3, { 'retention.ms': '-1' }).check()).to.deep.equal([])
  })

  it('cannot be kept by a compacted topic, or by one that accepts no message, which are refused', async () => {
    for (const policy of ['compact', 'compact,delete'])
      expect(await setUp(3, 3, { 'cleanup.policy': policy }).check().catch(String)).to.include(
        `has cleanup.policy ${policy}, which loses clicks: set it to delete`,
      )
    expect(await setUp(3, 1).check().catch(String)).to.include('set min.insync.replicas to 1')
  })
})
