export * from './frame.ts'
export * from './overview.ts'
export * from './stats.ts'
