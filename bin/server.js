// Bundles the program, and the thread of its engine: loading one file takes a third less than loading its 600 modules.
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Defines where a module was, for those that look for files next to them.
 * @param {string} up the way from the bundle to the folder of all
 */
const places = (up) => `import { fileURLToPath as pathOfPlace } from 'node:url'
const placeOf = (file) => {
  const url = new URL(\`${up}\${file}\`, import.meta.url)
  return { url: url.href, dirname: pathOfPlace(new URL('.', url)) }
}`

/**
 * Lets each module find its files from the bundle as from its own place.
 * @param {string} out
 * @returns {import('esbuild').Plugin}
 */
const inPlace = (out) => ({
  name: 'in place',
  setup: (build) => {
    build.onLoad({ filter: /\.js$/ }, ({ path }) => {
      const file = relative(out, path).split(sep).join('/')
      const text = readFileSync(path, 'utf8')
      return { contents: text.replaceAll(/\bimport\.meta\b/g, `placeOf(${JSON.stringify(file)})`), loader: 'js' }
    })
  },
})

/** What is loaded as one file each. */
const entries = ['cli/run.js', 'app/engine/run.js']

/**
 * Puts all modules that a file imports into that file. Packages stay outside, and so do the modules of threads, which
 * load their own.
 * @param {string} out the folder with the compiled sources
 * @param {string} file
 */
const bundle = async (out, file) => {
  const { build } = await import('esbuild')
  const entry = join(out, file)
  await build({
    absWorkingDir: out,
    entryPoints: [entry],
    outfile: entry,
    allowOverwrite: true,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    banner: { js: places(file.replaceAll(/[^/]+\/|[^/]+$/g, (part) => (part.endsWith('/') ? '../' : ''))) },
    plugins: [inPlace(out)],
    logLevel: 'silent',
  })
}

const [, script, out] = process.argv
/** @param {string} out */
const bundleAll = async (out) => {
  // each from what the compiler wrote: a bundle is no module of another one
  for (const file of entries) await bundle(out, file)
}

if (script === fileURLToPath(import.meta.url) && out !== undefined)
  bundleAll(out).catch((/** @type {unknown} */ error) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
