// node test/support/duckdb.mjs -json -c SQL: runs a statement as DuckDB's command line does, and prints the rows as JSON. DuckDB is 70 MB,
// so it is no dependency: `npm install --prefix .cache/duckdb --no-save @duckdb/node-api`.
import { createRequire } from 'node:module'

const { resolve } = createRequire(new URL('../../.cache/duckdb/', import.meta.url))
/** @type {{ DuckDBInstance: { create: () => Promise<{ connect: () => Promise<{ runAndReadAll: (sql: string) => Promise<{ getRowObjectsJson: () => unknown }> }> }> } }} */
const { DuckDBInstance } = await import(resolve('@duckdb/node-api'))
const connection = await (await DuckDBInstance.create()).connect()
const result = await connection.runAndReadAll(process.argv.at(-1) ?? '')
process.stdout.write(`${JSON.stringify(result.getRowObjectsJson())}\n`)
