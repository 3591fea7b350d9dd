// `npm run house`: facts about the shape of `src`, each with its goal. Fails when one is worse than it was.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listsIn } from './kindlists.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8', withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
const sources = paths.filter((path) => /\.tsx?$/.test(path))

/** Returns what stands in each folder of `src`, by the path of the folder. */
const entriesOf = () => {
  const found = new Map<string, Set<string>>()
  for (const path of paths)
    for (let at = path; at !== 'src'; at = dirname(at)) {
      const entries = found.get(dirname(at)) ?? new Set()
      found.set(dirname(at), entries.add(basename(at)))
    }
  return found
}

/** Folders of small, unrelated files may hold more than those that a reader walks through. */
const mostEntries = (folder: string) =>
  /^src\/(http|projections|app|queries|commands|web\/screens)(\/|$)/.test(folder) ? 22 : 40

const crowded = () =>
  [...entriesOf()]
    // releases add migrations, and none is ever changed or moved
    .filter(([folder, entries]) => folder !== 'src/postgres/migrations' && entries.size > mostEntries(folder))
    .map(([folder, { size }]) => `${folder} (${size})`)

/** Names that begin with the name of another file beside them belong into a folder of that name. */
const gluedNames = () => {
  const nameOf = (path: string) => basename(path).replace(/\.tsx?$/, '')
  return sources.filter((path) =>
    sources.some(
      (other) => other !== path && dirname(other) === dirname(path) && nameOf(path).startsWith(nameOf(other)),
    ),
  )
}

interface Finding {
  readonly code?: string
  readonly filename: string
  readonly labels: readonly { readonly span: { readonly line: number } }[]
}

/** Returns the places in `src` where rules of the linter find something. */
const findings = (rules: Readonly<Record<string, unknown>>) => {
  const folder = mkdtempSync(join(tmpdir(), 'linkledger-house-'))
  try {
    const config = join(folder, 'oxlintrc.json')
    writeFileSync(config, JSON.stringify({ plugins: ['import', 'typescript'], categories: {}, rules }))
    const args = ['--config', config, '--format', 'json', '--disable-nested-config', 'src']
    const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/oxlint'), args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    })
    if (!stdout.startsWith('{')) throw new Error(stdout + stderr)
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly Finding[] }
    return diagnostics
      .filter(({ code = '' }) => Object.keys(rules).some((rule) => code.endsWith(`(${rule.replace(/^.*\//, '')})`)))
      .map(({ filename, labels }) => `${filename}:${labels[0]?.span.line ?? 1}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Code that looks into a message to learn what happened. */
const parsed =
  /\bmessage\)?\.(?:startsWith|endsWith|includes|match|replace|replaceAll|search|split)\(|\.(?:test|exec)\([\w.]*\bmessage\)/g
const parsedSentences = () =>
  sources.flatMap((path) => {
    const code = readFileSync(join(root, path), 'utf8')
    return [...code.matchAll(parsed)].map(({ index }) => `${path}:${code.slice(0, index).split('\n').length}`)
  })

const listsOfKinds = () => {
  const definition = 'src/events/kinds.ts'
  const types = readFileSync(join(root, definition), 'utf8').matchAll(/^export type (\w+Kind)\b/gm)
  const known = new Set([...types].map(([, name = '']) => name))
  return sources
    .filter((path) => path !== definition)
    .flatMap((path) => listsIn(readFileSync(join(root, path), 'utf8'), known).map(({ line }) => `${path}:${line}`))
}

const wideComments = () =>
  sources.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, i) => (/^\s*(\/\/|\/?\*)/.test(line) && line.length > 120 ? [`${path}:${i + 1}`] : [])),
  )

/** `allowed` is what there is now where the goal is not reached. */
interface Fact {
  readonly name: string
  readonly found: () => readonly string[]
  readonly goal: number
  readonly allowed?: number
}
const facts: readonly Fact[] = [
  {
    name: 'circles of imports, of types too',
    found: () => findings({ 'import/no-cycle': ['error', { ignoreTypes: false }] }),
    goal: 0,
  },
  { name: 'folders with too many entries', found: crowded, goal: 0 },
  { name: 'files that begin with the name of one beside them', found: gluedNames, goal: 0 },
  {
    name: 'files over 200 lines, without comments',
    found: () => findings({ 'max-lines': ['error', { max: 200, skipComments: true, skipBlankLines: true }] }),
    goal: 0,
    allowed: 9,
  },
  {
    name: 'functions over 60 lines, without comments',
    found: () =>
      findings({ 'max-lines-per-function': ['error', { max: 60, skipComments: true, skipBlankLines: true }] }),
    goal: 0,
    allowed: 8,
  },
  { name: 'lines of comments over 120 columns', found: wideComments, goal: 0 },
  { name: 'lists of kinds outside of kinds.ts', found: listsOfKinds, goal: 0, allowed: 2 },
  { name: 'sentences that are parsed', found: parsedSentences, goal: 0, allowed: 3 },
]

const isVerbose = process.argv.includes('--all')
const [hall, largest] = [...entriesOf()]
  .map(([folder, { size }]) => [folder, size] as const)
  .sort((a, b) => b[1] - a[1])[0] ?? ['', 0]
console.log(`${sources.length} files of code in src; the largest folder is ${hall}, with ${largest} entries`)
for (const { name, found, goal, allowed = goal } of facts) {
  const places = found()
  const isWorse = places.length > allowed
  console.log(
    `${isWorse ? 'WORSE' : '     '} ${String(places.length).padStart(4)}  ${name} (goal ${goal}${allowed === goal ? '' : `, allowed ${allowed}`})`,
  )
  if (isWorse || isVerbose) for (const place of places) console.log(`             ${place}`)
  if (isWorse) process.exitCode = 1
}
