import { nearName } from '../../model/did-you-mean.ts'
import type { Context } from './context.ts'
import { described, quoted, type YamlEntry, type YamlMap, type YamlNode } from './node.ts'

/** The spellings of each key (YARRRML, "Shortcuts", and further ones that its parsers accept). */
export interface KeyTable {
  readonly [canonical: string]: readonly string[]
}

export const ROOT_KEYS = {
  mappings: ['mapping', 'm'],
  prefixes: ['prefix'],
  base: [],
  sources: ['source', 's'],
  external: [],
  authors: ['author', 'a'],
  targets: ['target', 't'],
  authentications: [],
} as const satisfies KeyTable

export const MAPPING_KEYS = {
  subjects: ['subject', 's'],
  predicateobjects: ['predicateobject', 'po'],
  sources: ['source'],
  graphs: ['graph', 'g'],
  conditions: ['condition', 'c'],
  targets: ['target', 't'],
  type: [],
  changeDetection: [],
} as const satisfies KeyTable

export const SUBJECT_KEYS = {
  value: ['v'],
  type: [],
  targets: ['target', 't'],
  function: ['fn', 'f'],
  parameters: ['pms'],
  conditions: ['condition', 'c'],
  quoted: [],
  quotedNonAsserted: [],
} as const satisfies KeyTable

export const STATEMENT_KEYS = {
  predicates: ['predicate', 'p'],
  objects: ['object', 'o'],
  inversepredicates: ['inversepredicate', 'i', 'iv'],
  graphs: ['graph', 'g'],
  conditions: ['condition', 'c'],
  targets: ['target', 't'],
  type: [],
} as const satisfies KeyTable

export const OBJECT_KEYS = {
  value: ['v'],
  mapping: [],
  type: [],
  datatype: [],
  language: [],
  function: ['fn', 'f'],
  parameters: ['pms'],
  conditions: ['condition', 'c'],
  join: [],
  targets: ['target', 't'],
  quoted: [],
  quotedNonAsserted: [],
} as const satisfies KeyTable

export const SOURCE_KEYS = {
  access: [],
  type: [],
  referenceFormulation: [],
  iterator: [],
  delimiter: [],
  encoding: [],
  query: [],
  queryFormulation: [],
  credentials: [],
  security: [],
  driver: [],
  contentType: [],
  operationType: [],
  localFile: [],
} as const satisfies KeyTable

/** The entries of a map under their canonical keys. */
export type Entries<T extends KeyTable> = Partial<Record<keyof T & string, YamlEntry>>

/** Sorts the entries of a map by a table of keys. An unknown key, or one that is repeated in another spelling, is reported and left out. */
export function readKeys<T extends KeyTable>(
  context: Context,
  map: YamlMap,
  table: T,
  path: string,
): Entries<T> {
  const found = new Map<keyof T & string, YamlEntry>()
  const canonical = new Map<string, keyof T & string>()
  for (const [name, others] of Object.entries(table) as [keyof T & string, readonly string[]][])
    for (const spelling of [name, ...others]) canonical.set(spelling, name)
  for (const entry of map.entries) {
    const { key } = entry
    const name = canonical.get(key.text)
    const here = childPath(path, key.text)
    if (name === undefined) {
      context.report('key-unknown', key.span, here, ...unknownKey(key.text, entry.value, canonical, table))
      continue
    }
    const before = found.get(name)
    if (before === undefined) found.set(name, entry)
    else if (before.key.text !== key.text)
      context.report(
        'key-twice',
        key.span,
        here,
        `${quoted(before.key.text)} and ${quoted(key.text)} are two spellings of one key`,
        'Keep one of them.',
      )
  }
  return Object.fromEntries(found) as Entries<T>
}

function unknownKey(
  name: string,
  value: YamlNode,
  canonical: ReadonlyMap<string, string>,
  table: KeyTable,
): [string, string] {
  const message = `the key ${quoted(name)} is not known here`
  if (/^\$?\(?\w+\)?$/.test(name) && described(value) === 'nothing' && !canonical.has(name.toLowerCase()))
    if (name.length > 2 && nearName(name, canonical.keys()) === undefined)
      return [message, `{${name}} is a map in YAML; the value of a field is written $(${name}).`]
  const lower = canonical.get(name.toLowerCase())
  const close =
    lower ??
    nearName(
      name,
      [...canonical.keys()].filter(key => key.length > 2),
    )
  return [
    message,
    close === undefined ? `Known are: ${Object.keys(table).join(', ')}.` : `Did you mean ${quoted(close)}?`,
  ]
}

/** Path of an entry of a map. */
export function childPath(path: string, key: string): string {
  const short = key.length > 60 ? `${key.slice(0, 60)}…` : key
  return path === '' ? short : `${path}.${short}`
}
