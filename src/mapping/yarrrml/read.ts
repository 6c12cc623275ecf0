import { isIri } from '../../rdf/iri-syntax.ts'
import { INITIAL_CONTEXT } from '../../rdf/prefixes.ts'
import { type Diagnostic, hasErrors } from '../diagnostic.ts'
import type { Mapping } from '../ir.ts'
import type { Context, NamedSource } from './context.ts'
import { type Diagnostics, ignoringSources } from './context.ts'
import { readYaml } from './document.ts'
import { reportOddScheme } from './iris.ts'
import { childPath, type Entries, ROOT_KEYS, readKeys, reportUnsupported } from './keys.ts'
import { reportLintRules, reportPrefixes } from './lint-rules.ts'
import { readMappings } from './mappings.ts'
import { described, isEmpty, quoted, type YamlEntry, type YamlMap, type YamlNode } from './node.ts'
import { readSource } from './sources.ts'

/** The result of reading a mapping document; the mapping is null if it has errors. */
export interface ReadMapping {
  readonly mapping: Mapping | null
  readonly diagnostics: readonly Diagnostic[]
}

export interface ReadOptions {
  /** Prefixes that the document need not declare, in addition to those of RDFa. */
  readonly prefixes?: Readonly<Record<string, string>>
  /** True if the records are those of a dataset: problems of sources are only informational then. */
  readonly ignoreSources?: boolean
}

/** Reads a mapping in YARRRML 1.3, independently of its dataset. It never throws. */
export function readYarrrml(text: string, options: ReadOptions = {}): ReadMapping {
  const { root, diagnostics: collected } = readYaml(text)
  const mapping = root === null ? null : readRoot(root, collected, options)
  const diagnostics = collected.diagnostics()
  return { mapping: hasErrors(diagnostics) ? null : mapping, diagnostics }
}

function readRoot(root: YamlNode, collected: Diagnostics, options: ReadOptions): Mapping | null {
  if (root.type !== 'map') {
    const message = isEmpty(root)
      ? 'the document is empty'
      : `the document is ${described(root)}, a map is expected`
    return collected.report(
      isEmpty(root) ? 'no-mappings' : 'doc-not-map',
      root,
      message,
      'Begin with mappings:',
    )
  }
  const given = new Map(Object.entries({ ...INITIAL_CONTEXT, ...options.prefixes }))
  const initial: Context = {
    ...collected,
    sourceDiagnostics: options.ignoreSources === true ? ignoringSources(collected) : collected,
    prefixes: given,
    declared: new Set(),
    usedPrefixes: new Set(),
    base: undefined,
    external: new Map(),
    mappingKeys: new Map(),
    sources: new Map(),
    joins: [],
    rules: 0,
    guesses: 0,
  }
  const before = collected.count()
  const keys = readKeys(initial, root, ROOT_KEYS)
  const misspelt = collected.count() > before
  reportUnsupported(initial, keys)
  if (keys.authors !== undefined)
    collected.report('authors-ignored', keys.authors.key, 'the authors are not published')
  const declared = readPrefixes(collected, keys.prefixes)
  const prefixes = new Map([...given, ...declared])
  const mappings = keys.mappings?.value
  const context: Context = {
    ...initial,
    prefixes,
    declared: new Set(declared.keys()),
    base: readBase(collected, keys.base),
    external: readTexts(collected, keys.external),
    mappingKeys: new Map(mappings?.type === 'map' ? mappings.entries.map(({ key }) => [key.text, key]) : []),
    sources: readNamedSources({ ...initial, ...initial.sourceDiagnostics }, keys.sources),
  }
  if (keys.mappings === undefined || mappings === undefined || isEmpty(mappings)) {
    // A misspelt key was reported already.
    if (keys.mappings !== undefined || !misspelt)
      collected.report(
        'no-mappings',
        keys.mappings?.key ?? root.entries[0]?.key ?? root,
        'the document has no mappings',
        'Write mappings: and below it one key for each resource.',
      )
    return null
  }
  if (mappings.type !== 'map') {
    const found = `mappings is a map with one key for each resource, found ${described(mappings)}`
    return collected.report('no-mappings', mappings, found)
  }
  if (mappings.entries.length === 0) return collected.report('no-mappings', mappings, 'there is no mapping')
  const resources = readMappings(context, mappings)
  reportPrefixes(context, keys.prefixes)
  if (!hasErrors(collected.diagnostics())) reportLintRules(context, resources)
  return { resources, prefixes: Object.fromEntries(usedPrefixes(context, declared)) }
}

function usedPrefixes(context: Context, declared: ReadonlyMap<string, string>): readonly [string, string][] {
  return [...context.prefixes].filter(([name]) => declared.has(name) || context.usedPrefixes.has(name))
}

function readPrefixes(collected: Diagnostics, entry: YamlEntry | undefined): ReadonlyMap<string, string> {
  const declared = new Map<string, string>()
  for (const { key, value } of mapEntries(collected, entry)) {
    const _path = childPath('prefixes', key.text)
    const name = key.text.replace(/:$/, '')
    if (value.type !== 'text' || isEmpty(value)) {
      collected.report(
        'prefix-iri-invalid',
        key,
        `the prefix ${quoted(name)} has no IRI: found ${described(value)}`,
      )
      continue
    }
    const iri = value.text.replace(/^<(.*)>$/, '$1')
    declared.set(name, iri)
    if (!/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name) && name !== '')
      collected.report(
        'prefix-iri-invalid',
        key,
        `${quoted(name)} cannot be a prefix: letters, digits, - and _ can`,
      )
    else if (!isIri(iri)) {
      const found = `the prefix ${quoted(name)} stands for ${quoted(iri)}, which is no absolute IRI`
      collected.report('prefix-iri-invalid', value, found)
    } else {
      const colon = iri.indexOf(':')
      reportOddScheme(collected, value, iri.slice(0, colon), iri.slice(colon + 1))
    }
  }
  return declared
}

function readBase(collected: Diagnostics, entry: YamlEntry | undefined): string | undefined {
  if (entry === undefined) return undefined
  const { value } = entry
  if (value.type === 'text' && isIri(value.text)) return value.text
  collected.report('iri-invalid-char', value, `the base is ${described(value)}, an absolute IRI is expected`)
  return undefined
}

function readTexts(collected: Diagnostics, entry: YamlEntry | undefined): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const { key, value } of mapEntries(collected, entry)) {
    if (value.type === 'text') texts.set(key.text, value.text)
    else {
      const found = `an external value is a text, found ${described(value)}`
      collected.report('value-shape', value, found)
    }
  }
  return texts
}

function readNamedSources(context: Context, entry: Entries<typeof ROOT_KEYS>['sources']): Context['sources'] {
  const named = new Map<string, NamedSource>()
  for (const { key, value } of mapEntries(context, entry))
    named.set(key.text, { key, source: readSource(context, value) })
  return named
}

function mapEntries(collected: Diagnostics, entry: YamlEntry | undefined): YamlMap['entries'] {
  if (entry === undefined || isEmpty(entry.value)) return []
  if (entry.value.type === 'map') return entry.value.entries
  const found = `${quoted(entry.key.text)} is a map, found ${described(entry.value)}`
  collected.report('value-shape', entry.value, found)
  return []
}
