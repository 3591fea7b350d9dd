import type { Reader } from '../reader.ts'
import { countOwned } from '../owned.ts'

/** What an account has a quota of. Images are counted in bytes, everything else in resources that are not deleted. */
export const quotaKinds = [
  'link',
  'qr',
  'domain',
  'campaign',
  'channel',
  'overlay',
  'pixel',
  'splash',
  'bio',
  'webhook',
  'image',
] as const
export type QuotaKind = (typeof quotaKinds)[number]

const tables: Record<Exclude<QuotaKind, 'image'>, string> = {
  link: 'link',
  qr: 'qrs',
  domain: 'domains',
  campaign: 'campaigns',
  channel: 'channels',
  overlay: 'overlays',
  pixel: 'pixels',
  splash: 'splashes',
  bio: 'bios',
  webhook: 'webhooks',
}

/** Returns how much of a quota an account uses. The tables have the number of its resources, so none is counted here. */
export const findUsage = async (reader: Reader, account: number, kind: QuotaKind): Promise<number> => {
  if (kind !== 'image') return countOwned(reader, tables[kind], account)
  // the length of a large value is stored with it: no image is read
  const { rows } = await reader.db.raw<{ rows: { bytes: string }[] }>(
    'select coalesce(sum(octet_length(sealed)), 0) as bytes from state.images where account = ?',
    [account],
  )
  return Number(rows[0]?.bytes ?? 0)
}
