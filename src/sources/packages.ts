import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { lookup } from '../model/lookup.ts'
import { misconfigured, unreadable } from './source.ts'

const PACKAGE_PATH = /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(?:\/(.+))?$/

/**
 * The absolute path of `path` below a folder. Throws ConfigInvalid if the path, or the file that it links to, is outside the
 * folder, and SourceUnreadable if there is no such file.
 */
export function pathWithin(folder: string, path: string): string {
  const full = resolve(folder, path)
  if (isAbsolute(path) || isOutside(folder, full)) throw outside(path)
  if (!existsSync(full))
    throw unreadable(
      'There is no such file.',
      { file: path },
      'Put it there, or correct its path in dataset.yaml.',
    )
  if (isOutside(realpathSync(folder), realpathSync(full))) throw outside(path)
  if (statSync(full).isDirectory())
    throw unreadable('It is a folder.', { file: path }, 'Name a file in it in dataset.yaml.')
  return full
}

/** Throws ConfigInvalid if the path or package of a source names a file outside its folder, whether there is one or not. */
export function refuseOutside({
  path,
  package: packed,
}: {
  readonly path?: string
  readonly package?: string
}): void {
  const folder = resolve('dataset')
  if (path !== undefined && (isAbsolute(path) || isOutside(folder, resolve(folder, path))))
    throw outside(path)
  if (packed !== undefined) packagePath(packed)
}

/**
 * The absolute path of a file in an installed npm package, `vega-datasets/data/airports.csv`, found in the `node_modules` of a
 * folder or of its ancestors. The `exports` of the package do not apply: data is not code.
 */
export function packageFile(path: string, fromFolder: string): string {
  const { name, rest } = packagePath(path)
  if (rest === undefined)
    throw misconfigured(`The path ${JSON.stringify(path)} names a package but no file in it.`)
  return pathWithin(packageFolder(name, fromFolder), rest)
}

/** The entry file of a module specifier, and the folder of its package. */
export interface ModuleFiles {
  readonly folder: string
  readonly entry: string
}

/**
 * Finds the file that `import` would load for `name` or `name/sub` from a folder: by the package's `exports` (Node.js
 * documentation, "Package entry points", without patterns), else by its `main`.
 */
export function moduleFiles(specifier: string, fromFolder: string): ModuleFiles {
  const { name, rest } = packagePath(specifier)
  const folder = packageFolder(name, fromFolder)
  const target = exported(exportsOf(folder), rest === undefined ? '.' : `./${rest}`)
  if (typeof target === 'string') return { folder, entry: pathWithin(folder, target) }
  if (target === null) throw unreadable(`The package ${name} does not export this.`, { file: specifier })
  try {
    const entry = createRequire(join(folder, 'package.json')).resolve(join(folder, rest ?? '.'))
    return { folder, entry: pathWithin(folder, relative(folder, entry)) }
  } catch (cause) {
    throw unreadable('The module has no file to load.', { file: specifier }, undefined, cause)
  }
}

/** The files that determine what a module exports: its package.json, its entry, and the files at the top of its package. */
export function filesOfModule({ folder, entry }: ModuleFiles): readonly string[] {
  const beside = readdirSync(folder, { withFileTypes: true })
    .filter(file => file.isFile() && !file.name.startsWith('.'))
    .map(file => join(folder, file.name))
  return [...new Set([join(folder, 'package.json'), entry, ...beside.sort()])]
}

function packagePath(path: string): { readonly name: string; readonly rest: string | undefined } {
  const match = PACKAGE_PATH.exec(path)
  const segments = path.split(/[/\\]/)
  if (
    match?.[1] === undefined ||
    segments.some(segment => segment === '' || segment === '.' || segment === '..')
  )
    throw misconfigured(`${JSON.stringify(path)} is not the name of an npm package and a path in it.`)
  return { name: match[1], rest: match[2] }
}

function packageFolder(name: string, fromFolder: string): string {
  for (let folder = resolve(fromFolder); ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return realpathSync(found)
    if (folder === dirname(folder))
      throw unreadable(`The npm package ${name} is not installed.`, { file: name }, `npm install ${name}`)
  }
}

function exportsOf(folder: string): unknown {
  const file = join(folder, 'package.json')
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly exports?: unknown }).exports
  } catch (cause) {
    throw unreadable('The package.json is malformed.', { file }, undefined, cause)
  }
}

/** The target of a subpath: undefined if the package has no exports, null if it does not export it. */
function exported(map: unknown, subpath: string): string | null | undefined {
  if (map === undefined || map === null) return undefined
  const bySubpath =
    typeof map === 'object' && !Array.isArray(map) && Object.keys(map).some(key => key.startsWith('.'))
  if (!bySubpath) return subpath === '.' ? conditional(map) : null
  return conditional(lookup(map as Readonly<Record<string, unknown>>, subpath))
}

function conditional(target: unknown): string | null {
  if (typeof target === 'string') return target
  if (typeof target !== 'object' || target === null) return null
  const options = Array.isArray(target) ? target.entries() : Object.entries(target)
  for (const [condition, option] of options) {
    if (typeof condition === 'string' && !CONDITIONS.includes(condition)) continue
    const found = conditional(option)
    if (found !== null) return found
  }
  return null
}

const CONDITIONS = ['node', 'import', 'require', 'module-sync', 'default']

function isOutside(folder: string, path: string): boolean {
  const relativePath = relative(folder, path)
  return relativePath === '..' || relativePath.startsWith(`..${sep}`) || isAbsolute(relativePath)
}

function outside(path: string): Error {
  return misconfigured(`The path ${JSON.stringify(path)} leads out of its folder.`)
}
