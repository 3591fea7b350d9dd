export * from './shell.ts'
export * from './overview.ts'
export * from './stats.ts'
