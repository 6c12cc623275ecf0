import { nearName } from '../../model/did-you-mean.ts'
import { lookup } from '../../model/lookup.ts'
import type { Context } from './context.ts'
import { described, isEmpty, quoted, type YamlEntry, type YamlMap, type YamlNode } from './node.ts'

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
export function readKeys<T extends KeyTable>(context: Context, map: YamlMap, table: T): Entries<T> {
  const found = new Map<keyof T & string, YamlEntry>()
  const canonical = new Map<string, keyof T & string>()
  for (const [name, others] of Object.entries(table) as [keyof T & string, readonly string[]][])
    for (const spelling of [name, ...others]) canonical.set(spelling, name)
  for (const entry of map.entries) {
    const { key } = entry
    const name = canonical.get(key.text)
    if (name === undefined) {
      context.report('key-unknown', key, ...unknownKey(key.text, entry.value, canonical, table))
      continue
    }
    const before = found.get(name)
    if (before === undefined) found.set(name, entry)
    else if (before.key.text !== key.text)
      context.report(
        'key-twice',
        key,
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

const FEATURES = {
  function: 'functions',
  parameters: 'functions',
  conditions: 'conditions',
  join: 'joins',
  targets: 'targets',
  changeDetection: 'change detection',
  authentications: 'authentications',
  quoted: 'quoted triples (RDF-star)',
  quotedNonAsserted: 'quoted triples (RDF-star)',
} as const

/** What to do instead. */
const REMEDIES: Readonly<Record<string, string>> = {
  function:
    'Prepare the value in the source, by steps of dataset.yaml (processors: replace, compute …), or make a template of fields: $(a)-$(b).',
  conditions: 'Leave records out in the source, or by a step of dataset.yaml: processors: [{ filter: … }].',
  targets:
    'Leave them out: a dataset is published by its portal, and `lodestone map` writes to standard output.',
}

/** Reports unsupported features by name; true if there was one. */
export function reportUnsupported(
  context: Context,
  keys: Partial<Record<keyof typeof FEATURES, YamlEntry>>,
): boolean {
  let described = ''
  for (const [key, feature] of Object.entries(FEATURES) as [keyof typeof FEATURES, string][]) {
    const entry = keys[key]
    if (entry !== undefined) usePrefixes(context, entry.value)
    if (entry === undefined || (key === 'conditions' && isNone(entry.value)) || described === feature)
      continue
    described = feature
    context.report('unsupported', entry.key, `${feature} are not supported`, lookup(REMEDIES, key))
  }
  return described !== ''
}

/** Counts the prefixes of a value that is not read as used. */
function usePrefixes(context: Context, node: YamlNode): void {
  if (node.type === 'list') for (const item of node.items) usePrefixes(context, item)
  else if (node.type === 'map') for (const { value } of node.entries) usePrefixes(context, value)
  else {
    const prefix = /^([^\s:]*):/.exec(node.text.slice(0, 1000))?.[1]
    if (prefix !== undefined) context.usedPrefixes.add(prefix)
  }
}

function isNone(node: YamlNode): boolean {
  return isEmpty(node) || (node.type === 'text' && node.text === 'none')
}
