import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'

const SETS = /<EntitySet Name="[^"]+"/g
const modules = path.resolve(import.meta.dirname, '../node_modules')

/**
 * A folder for generated code, below the modules that the code needs; it holds `$metadata` and settings of a compiler.
 * Generators refuse names that are no identifiers, so a set with hyphens goes by the name of its type, which the
 * service takes too.
 */
export async function workshop(base, name) {
  const folder = path.join(modules, '.generated', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(path.join(folder, 'in'), { recursive: true })
  const metadata = await (await fetch(`${base}/api/odata/$metadata`)).text()
  writeFileSync(
    path.join(folder, 'in/portal.xml'),
    metadata.replace(SETS, named => named.replaceAll('-', '_')),
  )
  const compilerOptions = {
    target: 'es2021',
    module: 'commonjs',
    moduleResolution: 'node',
    skipLibCheck: true,
    esModuleInterop: true,
    strict: true,
  }
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  writeFileSync(path.join(folder, 'package.json'), '{"type":"commonjs"}')
  return folder
}

/** Runs a generator of the modules. */
export async function run(script, args, cwd) {
  await promisify(execFile)(process.execPath, [path.join(modules, script), ...args], { cwd }).catch(error => {
    throw new Error(`${script}: ${error.stdout} ${error.stderr}`.slice(0, 2000))
  })
}
