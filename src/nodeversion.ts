// This file is loaded by any Node.js, also by one that is too old: it imports nothing and uses no recent syntax.

/** Returns what to tell the operator when this Node.js is too old (`version` is like v18.20.0), otherwise undefined. */
export const nodeProblem = (version: string) => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return undefined
  return `linkledger needs Node.js 20.19 or newer; this is ${version}. Install a current version from https://nodejs.org.`
}
