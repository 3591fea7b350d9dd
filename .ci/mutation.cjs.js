// Lets `require` find files of Mocha 12 whose names end with `.cjs` when they are asked for without it, as Stryker's runner does.
import { createRequire } from 'node:module'

const { extensions } = createRequire(import.meta.url)
extensions['.cjs'] = extensions['.js']
