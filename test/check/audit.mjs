// Fails if a deployed package has a known vulnerability of high severity. Reports if the registry is unavailable.
import { spawnSync } from 'node:child_process'

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=high', '--json'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
})
const {
  metadata,
  vulnerabilities = {},
  message = 'npm audit returned no report',
} = JSON.parse(stdout || '{}')
if (metadata === undefined) console.log(`skipped: the registry does not answer npm audit (${message})`)
else {
  const { high, critical } = metadata.vulnerabilities
  for (const { name, severity } of Object.values(vulnerabilities)) console.log(`${severity}: ${name}`)
  console.log(`${high + critical} vulnerabilities of high or critical severity`)
  process.exitCode = high + critical > 0 ? 1 : 0
}
