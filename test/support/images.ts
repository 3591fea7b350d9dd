import { type Images, openImages } from '../../src/qr/images.ts'
import { openPool, type Pool } from '../../src/qr/pool.ts'

let pools: readonly Pool[] | undefined

/**
 * Returns images for one service, which are made by threads that all services of this process share: each costs 0.3 s
 * of a processor to start. Their time limits are longer than usual, because a busy machine needs more than two seconds
 * for a picture.
 */
export const sharedImages = (): Images => {
  pools ??= [
    openPool({ size: 2, timeoutMs: 20_000, perSource: 100 }),
    openPool({ size: 1, timeoutMs: 5000, queue: 20 }),
  ]
  const [drawers, decoders] = pools.map(({ run }) => ({ run, close: async () => {} }))
  return openImages(drawers, decoders)
}

export const closeSharedImages = async () => void (await Promise.all((pools ?? []).map(({ close }) => close())))
