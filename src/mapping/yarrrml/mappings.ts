import type { LogicalSource, ResourceRule, StatementRule, TermMap } from '../ir.ts'
import type { Context } from './context.ts'
import { readIri, SUBJECT } from './iris.ts'
import { MAPPING_KEYS, readKeys, reportUnsupported, SUBJECT_KEYS } from './keys.ts'
import {
  described,
  isEmpty,
  quoted,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlText,
} from './node.ts'
import { readGraphs, reportOtherJoins } from './predicates.ts'
import { readSources } from './sources.ts'
import { MAX_RULES, readStatements } from './statements.ts'
import { segmentsOf } from './template.ts'

const MAX_MAPPINGS = 200

/** Reads all mappings; one with several subjects becomes several rules, and so does every link to it. */
export function readMappings(context: Context, mappings: YamlMap): readonly ResourceRule[] {
  if (mappings.entries.length > MAX_MAPPINGS) {
    const found = `the document has ${mappings.entries.length} mappings, at most ${MAX_MAPPINGS} are allowed`
    context.report('limits', mappings, found)
    return []
  }
  const rules = new Map<string, readonly ResourceRule[]>()
  const bare: YamlText[] = []
  for (const entry of mappings.entries) {
    if (context.rules > MAX_RULES) break
    rules.set(entry.key.text, readMapping(context, entry, bare))
  }
  reportUnlinked(context, bare, rules)
  reportOtherJoins(context, rules)
  return expandLinks(context, rules)
}

/** @param bare gets the key of a mapping that has a subject and no statements, which links may lead to */
function readMapping(context: Context, entry: YamlEntry, bare: YamlText[]): readonly ResourceRule[] {
  const { key, value } = entry
  if (value.type !== 'map' || value.entries.length === 0) {
    context.report(
      isEmpty(value) || value.type === 'map' ? 'mapping-empty' : 'value-shape',
      key,
      `the mapping ${quoted(key.text)} is ${described(value)}, a map with subjects and predicateobjects is expected`,
      'Are the lines below it indented?',
    )
    return []
  }
  const before = context.count()
  const keys = readKeys(context, value, MAPPING_KEYS)
  const misspelt = context.count() > before
  reportUnsupported(context, keys)
  const type = keys.type?.value
  const blank = type?.type === 'text' ? type : undefined
  if (type !== undefined && !(blank !== undefined && ['iri', 'blank'].includes(blank.text))) {
    const found = `the type of the subjects is iri or blank, found ${described(type)}`
    context.report('value-shape', type, found)
  }
  const graphs = keys.graphs
  const shared = {
    graphs: graphs === undefined ? [] : readGraphs(context, graphs.value),
    sources:
      keys.sources === undefined
        ? []
        : readSources({ ...context, ...context.sourceDiagnostics }, keys.sources.value),
    place: context.place(key),
  }
  let subjects: readonly (TermMap | null)[] = []
  if (keys.subjects !== undefined) subjects = readSubjects(context, keys.subjects, blank)
  else if (!misspelt) subjects = withoutSubject(context, key, blank)
  const subjectPlace = keys.subjects === undefined ? undefined : context.place(keys.subjects.value)
  const said = keys.predicateobjects
  if (said === undefined || isEmpty(said.value)) {
    if (misspelt) return []
    if (said !== undefined || keys.subjects === undefined) {
      reportEmpty(context, said?.key ?? key, key)
      return []
    }
    bare.push(key)
    return rulesOf(key.text, subjects, [], shared, subjectPlace)
  }
  const statements = readStatements(context, said.value)
  context.rules += Math.max(0, subjects.length - 1) * statements.length
  if (reportTooMany(context, key)) return []
  return rulesOf(key.text, subjects, statements, shared, subjectPlace)
}

/** Reports mappings without statements, unless a link needs the IRI that they make (YARRRML, "Referring to other mappings"). */
function reportUnlinked(
  context: Context,
  bare: readonly YamlText[],
  rules: Map<string, readonly ResourceRule[]>,
): void {
  const statements = [...rules.values()].flat().flatMap(rule => rule.statements)
  const linked = new Set(statements.map(({ object }) => (object.type === 'link' ? object.resource : null)))
  for (const key of bare) {
    if (linked.has(key.text)) continue
    reportEmpty(context, key, key)
    rules.delete(key.text)
  }
}

function reportEmpty(context: Context, part: YamlText, { text }: YamlText): void {
  context.report(
    'mapping-empty',
    part,
    `the mapping ${quoted(text)} has no statements about its resources`,
    'Write predicateobjects: and below it a list of statements, or a link to it in another mapping.',
  )
}

/** Reports a document whose lists multiply to more rules than allowed; true if they do. */
function reportTooMany(context: Context, key: YamlText): boolean {
  if (context.rules <= MAX_RULES) return false
  context.report('limits', key, `the mapping has more than ${MAX_RULES} rules`)
  return true
}

interface Shared {
  readonly graphs: readonly TermMap[]
  readonly sources: readonly LogicalSource[]
  readonly place: NonNullable<ResourceRule['place']>
}

function rulesOf(
  key: string,
  subjects: readonly (TermMap | null)[],
  statements: readonly StatementRule[],
  { graphs, sources, place }: Shared,
  subjectPlace: ResourceRule['subjectPlace'] | undefined,
): readonly ResourceRule[] {
  return subjects.flatMap((subject, index) =>
    subject === null
      ? []
      : [
          {
            key: index === 0 ? key : `${key}#${index + 1}`,
            subject,
            statements,
            ...(graphs.length === 0 ? {} : { graphs }),
            ...(sources.length === 0 ? {} : { sources }),
            place,
            ...(subjectPlace === undefined ? {} : { subjectPlace }),
          },
        ],
  )
}

/** A link goes to every subject of the mapping that it names. */
function expandLinks(
  context: Context,
  rules: ReadonlyMap<string, readonly ResourceRule[]>,
): readonly ResourceRule[] {
  const all = [...rules.values()]
  if (all.every(rule => rule.length < 2)) return all.flat()
  return all.flat().map(rule => ({
    ...rule,
    statements: rule.statements.flatMap(statement => {
      const { object } = statement
      if (object.type !== 'link') return [statement]
      const targets = rules.get(object.resource) ?? []
      context.rules += targets.length
      const key = context.mappingKeys.get(object.resource)
      if (key !== undefined && reportTooMany(context, key)) return []
      return targets.map(({ key }) => ({ ...statement, object: { ...object, resource: key } }))
    }),
  }))
}

/** The subjects of a mapping; null for one that could not be read, which was reported. */
function readSubjects(
  context: Context,
  entry: YamlEntry,
  type: YamlText | undefined,
): readonly (TermMap | null)[] {
  const { value } = entry
  if (isEmpty(value) || (value.type === 'list' && value.items.length === 0))
    return withoutSubject(context, entry.key, type)
  if (value.type === 'list') return value.items.map(item => readSubject(context, item, type))
  return [readSubject(context, value, type)]
}

/** The subjects of a mapping that names none: a blank node of each record (YARRRML, "Subjects"), unless an IRI is wanted. */
function withoutSubject(context: Context, key: YamlText, type: YamlText | undefined): readonly TermMap[] {
  if (type?.text === 'iri') {
    const found = 'the mapping has no subject, and its type is iri'
    context.report('subject-missing', key, found, IRI_HINT)
    return []
  }
  if (type === undefined) {
    const found =
      'the mapping has no subject: each record becomes a blank node, which nothing else can refer to'
    const hint = `${IRI_HINT} Where a blank node is meant, say so: subject: {type: blank}.`
    context.report('subject-blank', key, found, hint)
  }
  return [{ type: 'blank', segments: [] }]
}

const IRI_HINT = 'Write the template of an IRI, as in subject: http://example.org/city/$(name).'

function readSubject(context: Context, node: YamlNode, type: YamlText | undefined): TermMap | null {
  switch (node.type) {
    case 'text':
      return subjectTerm(context, node, type)
    case 'map':
      return readSubjectMap(context, node)
    case 'list':
      return context.report('value-shape', node, `a subject is a text, found ${described(node)}`)
  }
}

function readSubjectMap(context: Context, node: YamlMap): TermMap | null {
  const before = context.count()
  const keys = readKeys(context, node, SUBJECT_KEYS)
  if (reportUnsupported(context, keys)) return null
  const type = keys.type?.value
  const value = keys.value?.value
  if (type !== undefined && (type.type !== 'text' || !['iri', 'blank'].includes(type.text))) {
    const found = `the type of a subject is iri or blank, found ${described(type)}`
    return context.report('value-shape', type, found)
  }
  if (value === undefined || isEmpty(value)) {
    if (type?.text === 'blank') return { type: 'blank', segments: [] }
    if (context.count() === before) context.report('subject-missing', node, 'the subject has no value')
    return null
  }
  if (value.type === 'text') return subjectTerm(context, value, type)
  const found = `the value of a subject is a text, found ${described(value)}`
  return context.report('value-shape', value, found)
}

function subjectTerm(context: Context, node: YamlText, type: YamlText | undefined): TermMap | null {
  const suffix = /^(.*)~(iri|blank)$/s.exec(node.text)
  const kind = type?.text ?? suffix?.[2] ?? 'iri'
  const bare: YamlText = suffix === null ? node : { ...node, text: suffix[1] ?? '' }
  if (bare.text === '') return context.report('subject-missing', node, 'the subject is empty')
  if (kind === 'blank') {
    const read = segmentsOf(context, bare)
    return read === null ? null : { type: 'blank', segments: read.segments }
  }
  if (bare.text.startsWith('_:'))
    return context.report(
      'subject-not-iri',
      node,
      `the subject ${quoted(node.text)} is a blank node`,
      'Write {value: …, type: blank} for blank nodes, or an IRI that others can refer to.',
    )
  return readIri(context, bare, SUBJECT)
}
