import { iriText, literalText } from '../rdf/ntriples.ts'
import { RDF, RDFS, VOID, XSD } from '../rdf/vocab.ts'
import type { GraphStatistics } from './graph-statistics.ts'

/** Namespace of the VoID extension that query planners and generators read. */
const VOID_EXT = 'http://ldf.fi/void-ext#'
const VOID_SPACE = 'http://rdfs.org/ns/void#'

/**
 * Statistics of a graph for join planners, as N-Triples: in each class partition its properties with their triples, and in each
 * of these the classes and datatypes of the objects (VoID, section 4.5, and its extension, http://ldf.fi/void-ext); the
 * characteristic sets as subsets with their subjects and the triples of each property. If not all are listed, one more subset
 * describes the size of the rest.
 */
export function plannerDescription(node: string, document: string, graphStatistics: GraphStatistics): string {
  const { planner, classes } = graphStatistics
  if (planner == null) return ''
  const lines: string[] = []
  const t = (subject: string, predicate: string, object: string) =>
    lines.push(`${subject} <${predicate}> ${object} .\n`)
  const count = (subject: string, name: string, value: number) =>
    t(subject, VOID_SPACE + name, literalText(String(value), XSD.integer))
  const classNode = new Map(classes.map(({ iri }, at) => [iri, iriText(`${document}#class-${at + 1}`)]))
  for (const [at, join] of planner.joins.entries()) {
    const owner = classNode.get(join.class)
    if (owner === undefined) continue
    const id = `${document}#join-${at + 1}`
    t(owner, `${VOID_SPACE}propertyPartition`, iriText(id))
    t(iriText(id), `${VOID_SPACE}property`, iriText(join.property))
    count(iriText(id), 'triples', join.triples)
    count(iriText(id), 'distinctSubjects', join.subjects)
    for (const [index, { iri, triples }] of join.objectClasses.slice(0, MAX_KINDS).entries()) {
      const part = iriText(`${id}-class-${index + 1}`)
      t(iriText(id), `${VOID_SPACE}classPartition`, part)
      t(part, `${VOID_SPACE}class`, iriText(iri))
      count(part, 'triples', triples)
    }
    for (const [index, { iri, triples }] of join.datatypes.slice(0, MAX_KINDS).entries()) {
      const part = iriText(`${id}-datatype-${index + 1}`)
      t(iriText(id), `${VOID_EXT}datatypePartition`, part)
      t(part, `${VOID_EXT}datatype`, iriText(iri))
      count(part, 'triples', triples)
    }
  }
  for (const [at, { classes, subjects, properties }] of planner.sets.entries()) {
    const id = `${document}#set-${at + 1}`
    t(node, VOID.subset, iriText(id))
    t(iriText(id), RDF.type, iriText(VOID.Dataset))
    t(iriText(id), RDFS.label, literalText(`Characteristic set ${at + 1} of ${planner.setCount}`))
    count(iriText(id), 'distinctSubjects', subjects)
    for (const [index, iri] of classes.entries()) {
      const part = iriText(`${id}-class-${index + 1}`)
      t(iriText(id), `${VOID_SPACE}classPartition`, part)
      t(part, `${VOID_SPACE}class`, iriText(iri))
      count(part, 'entities', subjects)
    }
    for (const [index, { iri, triples }] of properties.entries()) {
      const part = iriText(`${id}-property-${index + 1}`)
      t(iriText(id), `${VOID_SPACE}propertyPartition`, part)
      t(part, `${VOID_SPACE}property`, iriText(iri))
      count(part, 'triples', triples)
    }
  }
  const left = planner.setCount - planner.sets.length
  if (left > 0) {
    const rest = iriText(`${document}#sets-rest`)
    t(node, VOID.subset, rest)
    t(rest, RDF.type, iriText(VOID.Dataset))
    t(rest, RDFS.label, literalText(`The other ${left} characteristic sets`))
    count(rest, 'distinctSubjects', planner.otherSubjects)
  }
  return lines.join('')
}

/** Maximum number of reported classes and datatypes of the objects of a property. */
const MAX_KINDS = 20
