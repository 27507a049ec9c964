// Runs after each installation. The packages of Node carry 67 MB of C headers and manuals, and Swagger UI 8 MB of source
// maps, which nothing here reads.
import { readdirSync, rmSync } from 'node:fs'

const modules = new URL('../../node_modules/', import.meta.url)
for (const name of readdirSync(modules).filter(name => /^node-(bin|darwin|linux|win)-/.test(name)))
  for (const part of ['include', 'share'])
    rmSync(new URL(`${name}/${part}`, modules), { recursive: true, force: true })

const viewer = new URL('swagger-ui-dist/', modules)
for (const name of readdirSync(viewer).filter(name => name.endsWith('.map'))) rmSync(new URL(name, viewer))
