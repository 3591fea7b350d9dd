import { expect } from 'chai'
import { changes } from './changes.ts'
import { differences, unexplained } from './compare.ts'
import { goldenFiles, missingGolden, outcomeOf, readGolden } from './golden.ts'

describe('the golden events', () => {
  it('have every type, version and field of event that can be in a log', async () => {
    const missing = (await missingGolden()).map(({ type, version, fields }) =>
      fields.length === 0 ? `${type}, version ${version}` : `${type}: ${fields.join(', ')}`,
    )
    const cure =
      'no golden event has these: add them with `npm run golden`, look at the new files in test/releases/golden, and commit them'
    expect(missing, cure).to.deep.equal([])
  })

  it('are opened, folded and projected as when they were stored', async () => {
    const found = []
    for (const name of goldenFiles()) {
      const { events, opened, folds, projected } = await readGolden(name)
      const all = await outcomeOf(events)
      // streams of its kind may have a state since
      const known = Object.entries(all.folds).filter(([stream]) => stream in folds)
      const now = { ...all, folds: Object.fromEntries(known) }
      const at = `golden/${name.replace(/\.json$/, '')}`
      found.push(...differences({ opened, folds, projected }, now, at))
    }
    const listed = changes.filter(({ release }) => release === 'golden')
    expect(unexplained(found, 'golden', listed)).to.deep.equal([])
  })
})
