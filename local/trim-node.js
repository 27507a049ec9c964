// Runs after each installation. The packages of Node carry 67 MB of C headers and manuals, which nothing here reads.
import { readdirSync, rmSync } from 'node:fs'

const modules = new URL('../node_modules/', import.meta.url)
for (const name of readdirSync(modules).filter(name => /^node-(bin|darwin|linux|win)-/.test(name)))
  for (const part of ['include', 'share'])
    rmSync(new URL(`${name}/${part}`, modules), { recursive: true, force: true })
