// Plain JavaScript, so that an older Node prints the requirements instead of a syntax error.
const version = process.versions.node
const [major = 0, minor = 0] = version.split('.').map(Number)

/** Why this Node cannot run the sandbox; undefined if it can. */
export const unsupported =
  major < 22 || (major === 22 && minor < 20)
    ? `Cannot start the sandbox: this is Node ${version}; install Node 22.20 or later`
    : undefined
