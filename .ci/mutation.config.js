// What .ci/mutation gives to Stryker.

// What is mutated, and the specs that have to notice. They need no service; those that compare the text of sources are left out.
const areas = {
  commands: { mutate: ['src/commands/**/*.ts'], spec: ['test/commands/**/!(versions|*.flow).spec.ts'] },
  events: {
    mutate: ['src/events/**/*.ts'],
    spec: ['test/{events,commands}/**/!(versions|*.flow).spec.ts', 'test/releases/golden.spec.ts'],
  },
  projections: {
    mutate: [
      'src/projections/{owned,claims}.ts',
      'src/projections/{accounts,domains,links,operator,pages,qr,webhooks}/*.ts',
      // only SQL
      '!src/projections/links/searched.ts',
    ],
    spec: ['test/projections/**/!(fingerprints|*.flow).spec.ts'],
  },
  public: {
    mutate: ['src/http/public/link/{chance,forward,resolve}.ts'],
    spec: ['test/http/public/link/!(*.flow).spec.ts'],
  },
  clicks: {
    mutate: ['src/clicks/{batch,classify}.ts', 'src/clicks/visitor/{choose,referrer,words}.ts'],
    spec: [
      'test/clicks/batch.spec.ts',
      'test/clicks/classify.spec.ts',
      'test/clicks/visitor/!(country).spec.ts',
      'test/http/public/link/!(*.flow).spec.ts',
    ],
  },
  // what they return is kept in memory for as long as the process runs: each change needs one of its own
  visitor: {
    mutate: ['src/clicks/visitor/{agent,country,device,language,previewers}.ts'],
    spec: ['test/clicks/classify.spec.ts', 'test/clicks/visitor/!(referrer|words).spec.ts'],
    fresh: true,
  },
}

const { AREA: name, STRYKER: stryker } = process.env
const area = areas[name]
if (!area) throw new Error(`The argument is one of ${Object.keys(areas).join(', ')}`)
const { mutate, spec, fresh } = area
const folder = '.cache/mutation'

export default {
  mutate,
  testRunner: 'mocha',
  plugins: [`${stryker}/mocha-runner/dist/src/index.js`],
  mochaOptions: { 'no-config': true, 'no-package': true, spec },
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  maxTestRunnerReuse: fresh ? 1 : 0,
  disableTypeChecks: '{src,test}/**/*.ts',
  // no such file: Stryker reads it with the TypeScript API, which TypeScript 7 does not have
  tsconfigFile: 'none',
  concurrency: 2,
  tempDirName: `${folder}/sandbox`,
  ignorePatterns: ['/dist', '/docs', '/bench', '/sdk', '/src/web', '/test/web'],
  reporters: ['progress-append-only', 'clear-text', 'json', 'html'],
  jsonReporter: { fileName: `${folder}/${name}.json` },
  htmlReporter: { fileName: `${folder}/${name}.html` },
}
