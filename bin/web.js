// Bundles the dashboard: scripts and styles with their hash in the name, compressed once, and a list of them for the
// service.
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawWorld } from './world.js'

/** bytes of script, compressed, until the overview has its chart */
const budget = 60 * 1024
const chart = 'uplot/dist/uPlot.esm.js'
/** what it needs until then, in the longest of the languages */
const untilChart = ['src/web/main.tsx', 'src/web/screens/statistics/overview.tsx', 'src/web/texts/fr.json?start', chart]

/**
 * What scripts import as `linkledger:world`: a drawing that is made while they are bundled.
 * @type {import('esbuild').Plugin}
 */
const world = {
  name: 'world',
  setup: (build) => {
    build.onResolve({ filter: /^linkledger:world$/ }, ({ path }) => ({ path, namespace: 'drawn' }))
    build.onLoad({ filter: /./, namespace: 'drawn' }, () => ({ contents: JSON.stringify(drawWorld()), loader: 'json' }))
  },
}

/**
 * What scripts import as `texts/en.json?start`: the part of a file of texts that has this name, alone.
 * @type {import('esbuild').Plugin}
 */
const parts = {
  name: 'parts of texts',
  setup: (build) => {
    build.onLoad({ filter: /[\\/]texts[\\/]\w+\.json$/ }, ({ path, suffix }) => {
      const part = suffix.slice(1)
      if (part === '') return undefined
      const texts = JSON.stringify({ [part]: JSON.parse(readFileSync(path, 'utf8'))[part] })
      return { contents: `export default ${texts}`, loader: 'js' }
    })
  },
}

/**
 * Lets every screen import the main script, which is there before any of them. So what they share with it is in one
 * file; otherwise it would be in one for each set of screens that share the same.
 * @type {import('esbuild').Plugin}
 */
const afterMain = {
  name: 'after main',
  setup: (build) => {
    build.onLoad({ filter: /[\\/]src[\\/]web[\\/]screens[\\/].*\.tsx$/ }, ({ path }) => {
      const main = join(path.slice(0, path.lastIndexOf('screens')), 'main.tsx')
      return { contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(main)}`, loader: 'tsx' }
    })
  },
}

/**
 * Bundles `src/web` of a checkout into a folder. Returns one line for each script: its compressed size. Throws when the
 * first chart needs more script than the budget.
 * @param {string} folder the checkout
 * @param {string} out
 * @returns {Promise<readonly string[]>}
 */
export const bundleWeb = async (folder, out) => {
  const { build } = await import('esbuild')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: { main: 'src/web/main.tsx', style: 'src/web/styles/index.css' },
    outdir: out,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: 'src/web/tsconfig.json',
    minify: true,
    legalComments: 'linked',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    plugins: [world, parts, afterMain],
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({
    ...output,
    name: basename(path),
    file: join(folder, path),
  }))
  const named = outputs.filter(({ name }) => /\.(?:js|css)$/.test(name))
  const sizes = new Map(named.map(({ name, file }) => [name, compress(file)]))
  const entry = (/** @type {string} */ source) => {
    // packages may be anywhere: above the checkout, or behind a link
    const found = named.find(({ entryPoint }) => entryPoint === source || entryPoint?.endsWith(`/${source}`))
    if (!found) throw new Error(`the dashboard has no script of ${source}`)
    return found.name
  }
  const first = neededAtOnce(named, entry('src/web/main.tsx'))
  const manifest = {
    script: entry('src/web/main.tsx'),
    style: entry('src/web/styles/index.css'),
    chart: entry(chart),
    // loaded together with the script instead of after it
    preload: first.slice(1),
    // what is imported on demand, by the name of its source: for pages that are known to need it
    parts: Object.fromEntries(
      named.flatMap(({ entryPoint, name }) => {
        const [, part] = /^src\/web\/((?:screens|texts)\/.+)$/.exec(entryPoint ?? '') ?? []
        const others = neededAtOnce(named, name).filter((one) => !first.includes(one))
        return part ? [[part.replace(/\.(?:tsx|json)/, ''), others]] : []
      }),
    ),
    files: named.map(({ name }) => name),
  }
  writeFileSync(join(out, 'manifest.json'), JSON.stringify(manifest))
  const needed = [...new Set(untilChart.flatMap((source) => neededAtOnce(named, entry(source))))]
  const tooEarly = named.find(({ name, inputs }) => needed.includes(name) && 'src/web/core/alltexts.ts' in inputs)
  if (tooEarly) throw new Error(`the overview loads all texts: ${Object.keys(tooEarly.inputs).join(', ')}`)
  const total = needed.reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0)
  if (total > budget)
    throw new Error(`the dashboard needs ${total} bytes of script until its first chart, more than ${budget}`)
  return [
    ...named.map(({ name }) => `${String(sizes.get(name)).padStart(7)}  ${name}`),
    `${String(total).padStart(7)}  bytes of script until the first chart, compressed, of ${budget}`,
  ]
}

/**
 * Writes compressed copies of a file. Returns the size of the one that gzip makes.
 * @param {string} file
 */
const compress = (file) => {
  const plain = readFileSync(file)
  const zipped = gzipSync(plain, { level: 9 })
  writeFileSync(`${file}.gz`, zipped)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length }
  writeFileSync(`${file}.br`, brotliCompressSync(plain, { params }))
  return zipped.length
}

/**
 * Returns the scripts that a script imports before it runs, itself first.
 * @param {readonly { readonly name: string, readonly imports: readonly { readonly path: string, readonly kind: string
 * }[] }[]} outputs
 * @param {string} name
 * @param {string[]} found
 * @returns {string[]}
 */
const neededAtOnce = (outputs, name, found = []) => {
  if (found.includes(name)) return found
  found.push(name)
  const imports = outputs.find((one) => one.name === name)?.imports ?? []
  for (const { path, kind } of imports) if (kind === 'import-statement') neededAtOnce(outputs, basename(path), found)
  return found
}

/**
 * Not awaited at the top level: a spec whose imports do is loaded as another kind of module, with a second copy of all
 * helpers, whose threads and database nothing ends.
 * @param {string} folder
 * @param {string} out
 */
const run = async (folder, out) => {
  try {
    console.log((await bundleWeb(folder, out)).join('\n'))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

const [, script, folder, out] = process.argv
if (script === fileURLToPath(import.meta.url) && folder !== undefined && out !== undefined) void run(folder, out)
