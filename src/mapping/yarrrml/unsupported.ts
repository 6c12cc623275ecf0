import { lookup } from '../../model/lookup.ts'
import type { Context } from './context.ts'
import { childPath } from './keys.ts'
import { isEmpty, type YamlEntry, type YamlNode } from './node.ts'

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
  path: string,
): boolean {
  let described = ''
  for (const [key, feature] of Object.entries(FEATURES) as [keyof typeof FEATURES, string][]) {
    const entry = keys[key]
    if (entry !== undefined) usePrefixes(context, entry.value)
    if (entry === undefined || (key === 'conditions' && isNone(entry.value)) || described === feature)
      continue
    described = feature
    context.report(
      'unsupported',
      entry.key.span,
      childPath(path, entry.key.text),
      `${feature} are not supported`,
      lookup(REMEDIES, key),
    )
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
