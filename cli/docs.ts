import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliDocument } from './document.ts'
import { ROOT } from './root.ts'

writeFileSync(join(ROOT, 'docs', 'cli.md'), cliDocument())
