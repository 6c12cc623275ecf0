import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { parseExactly } from '../model/exact-json.ts'
import { arrayMissing, type JsonObject } from './json/json.ts'
import { moduleFiles } from './packages.ts'
import { BATCH_ROWS, type RecordSource, type SourceRow, unreadable } from './source.ts'
import { isObject } from './typing/fields.ts'
import { formatPointer, parsePointer, valueAt } from './typing/pointer.ts'

/**
 * The records of an installed npm package that exports an array of objects: CommonJS, the default export of an ES module, or
 * JSON. A module is code: it is loaded once in the life of the process and runs with all its permissions.
 *
 * @param specifier name of the package, or name and subpath
 * @param portalFolder where the search for the package begins
 * @param records JSON Pointer of the array within the export; relative to the named exports of an ES module without a default
 */
export function moduleSource(specifier: string, portalFolder: string, records = ''): RecordSource {
  const path = parsePointer(records)
  const { entry } = moduleFiles(specifier, portalFolder)
  return { name: specifier, textual: false, read: () => readRows(specifier, entry, path) }
}

async function* readRows(
  specifier: string,
  entry: string,
  path: readonly string[],
): AsyncIterable<readonly SourceRow[]> {
  const exported = await load(specifier, entry)
  const elements = valueAt(exported, path)
  if (!Array.isArray(elements)) throw arrayMissing(specifier, arraysOf(exported))
  for (let from = 0; from < elements.length; from += BATCH_ROWS)
    yield elements.slice(from, from + BATCH_ROWS).map((element: unknown, index): SourceRow => {
      if (isObject(element)) return { row: from + index + 1, line: undefined, data: element }
      const pointer = formatPointer([...path, String(from + index)])
      throw unreadable(`A record must be an object, which ${pointer} is not.`, { file: specifier })
    })
}

async function load(specifier: string, entry: string): Promise<unknown> {
  try {
    if (entry.endsWith('.json')) return parseExactly(await readFile(entry, 'utf8'))
    const namespace = (await import(pathToFileURL(entry).href)) as JsonObject
    return unwrapped(unwrapped(namespace, 'default' in namespace), false)
  } catch (cause) {
    const reason = `The module cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`
    throw unreadable(reason, { file: specifier }, undefined, cause)
  }
}

/** The export of a module namespace: its default, also if a compiler generated CommonJS from an ES module. */
function unwrapped(value: unknown, hasDefault: boolean): unknown {
  if (!isObject(value)) return value
  return hasDefault || (value.__esModule === true && 'default' in value) ? value.default : value
}

function arraysOf(exported: unknown): readonly string[] {
  if (!isObject(exported)) return Array.isArray(exported) ? [''] : []
  return Object.entries(exported)
    .filter(([, value]) => Array.isArray(value))
    .map(([name]) => formatPointer([name]))
    .slice(0, 10)
}
