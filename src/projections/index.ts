import { accounts } from './account.ts'
import { links } from './link.ts'
import type { Projection } from './projection.ts'
import { stats } from './stats.ts'

export const projections: readonly Projection[] = [accounts, links, stats]
