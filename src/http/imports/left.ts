import { shownAlias } from '../../lib/short/alias.ts'
import { linksOfImport } from '../../queries/imports/import.ts'
import { type Job, patiently } from './job.ts'

const linksAtOnce = 500

/**
 * Adds a line for each link of an import that has none, when the import ends before the lines of its last step. Their
 * place in the file is not known. They come after a gap: the next start removes them, and finds the links again.
 */
export const addLeftLines = async ({ call, services, stored, signal }: Job): Promise<void> => {
  const { caughtUp, files } = services.imports
  const patient = patiently(signal)
  await patient(caughtUp)
  for (let after = 0; ;) {
    const found = await patient(() => linksOfImport(call.reader, stored.id, { after, limit: linksAtOnce }))
    const last = found.at(-1)
    if (!last) return
    after = last.id
    await patient(async () => {
      const ids = found.map(({ id }) => id)
      const left = new Set(await files.withoutLine(stored.id, ids))
      const lines = found.filter(({ id }) => left.has(id))
      await files.addBehind(
        stored.id,
        lines.map(({ id, alias, url }) => {
          return { outcome: 'created', place: '', alias: shownAlias(alias), url, message: '', left: [], link: id }
        }),
      )
    })
  }
}
