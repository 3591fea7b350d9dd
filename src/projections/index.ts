import { accounts } from './account.ts'
import { links } from './link.ts'
import { pixels } from './pixel.ts'
import type { Projection } from './projection.ts'
import { stats } from './stats.ts'

export const projections: readonly Projection[] = [accounts, links, pixels, stats]
