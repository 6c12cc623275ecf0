import type { Static, TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument, type YAMLError } from 'yaml'
import { Fault, type FaultPlace, placeText } from '../errors/errors.ts'
import { withoutCredentials } from '../model/credentials.ts'
import { nearest } from '../model/did-you-mean.ts'
import { lookup } from '../model/lookup.ts'
import { MAX_NESTED, nestedTooDeep } from '../model/yaml-nesting.ts'
import { CONFIG_INVALID } from './faults.ts'
import { expectedText } from './texts.ts'

/** One error of a document, with its position. */
export interface Problem {
  readonly message: string
  readonly place: FaultPlace
}

/** The result of reading a document: its value, null if it is invalid, and all problems. */
export interface ReadDocument<T> {
  readonly value: T | null
  readonly problems: readonly Problem[]
  /** The position of a member in the text: its key in a map, or the element of a list. */
  readonly placeOf: (path: readonly string[]) => FaultPlace
  /** A number as its author wrote it, such as 1.10; undefined for other values. */
  readonly writtenNumber: (path: readonly string[]) => string | undefined
}

const MAX_BYTES = 1_000_000

// The default is 8: a union may report more errors for its branches, and its own error comes after these.
Settings.Set({ maxErrors: 1000 })

/**
 * Reads a YAML document (portal.yaml, dataset.yaml) and checks it against a schema. An unknown key, a value of the wrong type or
 * malformed YAML is a problem with line and column; for an unknown key, the nearest known one is suggested.
 *
 * @param file name of the document in messages
 */
export function readDocument<S extends TSchema>(
  text: string,
  file: string,
  schema: S,
): ReadDocument<Static<S>> {
  const refused = (problems: readonly Problem[]) => ({
    value: null,
    placeOf: () => ({ file }),
    writtenNumber: () => undefined,
    problems,
  })
  if (text.length > MAX_BYTES)
    return refused([{ message: `the document is longer than ${MAX_BYTES} characters`, place: { file } }])
  if (nestedTooDeep(text) !== null)
    return refused([{ message: `the document is nested more than ${MAX_NESTED} deep`, place: { file } }])
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false })
  const at = (offset: number | undefined): FaultPlace => {
    if (offset === undefined) return { file }
    const { line, col } = lines.linePos(offset)
    return { file, line, column: col }
  }
  if (document.errors.length > 0) {
    const found = document.errors.map(error => ({
      message: syntaxText(error, text),
      place: at(error.pos[0]),
    }))
    return refused(firstOfLines(found))
  }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {}
  } catch (error) {
    // An alias without an anchor, or aliases that expand excessively.
    const message = plain((error as Error).message)
    const alias = /^Unresolved alias .*: (.+)$/.exec(message)?.[1]
    return refused([{ message, place: at(alias === undefined ? undefined : text.indexOf(`*${alias}`)) }])
  }
  const placeWithin = (path: readonly string[]) => at(offsetOf(document.contents as ParsedNode | null, path))
  const writtenNumber = (path: readonly string[]) => {
    const node = document.getIn(path, true)
    return isScalar(node) && typeof node.value === 'number' ? node.source : undefined
  }
  const read = { placeOf: placeWithin, writtenNumber }
  if (Value.Check(schema, value)) return { ...read, value: value as Static<S>, problems: [] }
  const problems = schemaProblems(schema, value).map(({ path, message }) => ({
    message,
    place: placeWithin(path),
  }))
  problems.sort(({ place: a }, { place: b }) => (a.line ?? 0) - (b.line ?? 0))
  return { ...read, value: null, problems }
}

/** The first problem of each line: one mistake in YAML is reported by several rules of its grammar. */
function firstOfLines(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(
    ({ place }, at) => problems.findIndex(other => other.place.line === place.line) === at,
  )
}

/** What is wrong with the syntax, in words for the most frequent mistakes. */
function syntaxText({ code, message, pos }: YAMLError, text: string): string {
  if (code === 'DUPLICATE_KEY') return `the key ${/^[^:\n]*/.exec(text.slice(pos[0]))?.[0]} is given twice`
  if (code !== 'BLOCK_AS_IMPLICIT_KEY') return plain(message)
  return message.startsWith('Nested')
    ? 'a key within a value: put the value in quotes if it contains ": ", else correct the indentation of the next line'
    : 'an item of a list where a key is expected: indent it like the items before it'
}

/** The value of a document, or a ConfigInvalid fault that lists every problem. */
export function trusted<T>(read: ReadDocument<T>): T {
  if (read.value !== null) return read.value
  const described = read.problems.map(({ message, place }) => placeText(place) + message)
  const place = read.problems[0]?.place
  throw new Fault(CONFIG_INVALID, { reason: described.join('\n') }, place === undefined ? {} : { place })
}

interface SchemaProblem {
  readonly path: readonly string[]
  readonly message: string
}

function schemaProblems(schema: TSchema, value: unknown): readonly SchemaProblem[] {
  const found: SchemaProblem[] = []
  const errors = [...Value.Errors(schema, value)]
  const branches = new Set(errors.filter(error => error.keyword === 'anyOf').map(error => error.instancePath))
  const reported = new Set<string>()
  for (const error of errors) {
    const steps = error.instancePath.split('/').slice(1)
    const path = steps.map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (error.keyword === 'boolean') continue
    if (error.keyword === 'additionalProperties') {
      const known = Object.keys(
        (schemaAt(schema, path) as { properties?: object } | undefined)?.properties ?? {},
      )
      for (const key of (error.params as { additionalProperties: readonly string[] }).additionalProperties)
        found.push({ path: [...path, key], message: unknownKey(key, known) })
    } else if (error.keyword === 'anyOf') {
      // A choice within a choice fails at the same position.
      if (reported.has(error.instancePath)) continue
      reported.add(error.instancePath)
      const options = choicesOf(schemaAt(schema, path))
      // A list of the right kind has the wrong length.
      const length = errors.find(
        it => it.instancePath === error.instancePath && /^m(?:ax|in)Items$/.test(it.keyword),
      )
      const problem =
        length === undefined ? `, expected one of: ${options.join(', ')}` : `: ${length.message}`
      found.push({ path, message: `${label(path)} is ${show(valueAt(value, path), path)}${problem}` })
    } else if (error.keyword === 'required') {
      const missing = (error.params as { requiredProperties: readonly string[] }).requiredProperties
      found.push({ path, message: `${label(path)} lacks ${missing.join(', ')}` })
    } else if (![...branches].some(branch => error.instancePath.startsWith(branch))) {
      const expected = error.keyword === 'pattern' ? expectedText(error.params.pattern) : undefined
      const problem = expected === undefined ? `: ${error.message}` : `, expected ${expected}`
      found.push({ path, message: `${label(path)} is ${show(valueAt(value, path), path)}${problem}` })
    }
  }
  return found
}

/** The values and types of a choice, those of choices within it among them. */
function choicesOf(schema: unknown): readonly unknown[] {
  const { anyOf, const: constant, type } = (schema ?? {}) as Readonly<Record<string, unknown>>
  return Array.isArray(anyOf)
    ? anyOf.flatMap(choicesOf)
    : [constant ?? type].filter(each => each !== undefined)
}

function unknownKey(key: string, known: readonly string[]): string {
  const close = nearest(key, known)
  return `unknown key ${key}${close === undefined ? `, known are: ${known.join(', ')}` : `, did you mean ${close}?`}`
}

function schemaAt(schema: TSchema, path: readonly string[]): unknown {
  let here: unknown = schema
  for (const step of path) {
    const node = here as {
      properties?: Record<string, unknown>
      items?: unknown
      patternProperties?: Record<string, unknown>
    }
    here = lookup(node.properties ?? {}, step) ?? Object.values(node.patternProperties ?? {})[0] ?? node.items
    if (here === undefined) return undefined
  }
  return here
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (here, step) => lookup((here ?? {}) as Readonly<Record<string, unknown>>, step),
    value,
  )
}

/** Offset of a path: that of the key for an entry of a map, else of the value. */
function offsetOf(root: ParsedNode | null, path: readonly string[]): number | undefined {
  let node: unknown = root
  let offset = root?.range?.[0]
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === step)
      if (pair === undefined) return offset
      offset = (pair.key as ParsedNode).range?.[0] ?? offset
      node = pair.value
    } else {
      node = (node as { items?: readonly unknown[] } | null)?.items?.[Number(step)]
      offset = (node as ParsedNode | undefined)?.range?.[0] ?? offset
    }
  }
  return offset
}

function label(path: readonly string[]): string {
  return path.length === 0 ? 'the document' : path.join('.')
}

/** Keys whose values are never shown in messages. */
const SECRET = /(?:^|_)(?:password|secret|token)$/

function show(value: unknown, path: readonly string[]): string {
  if (SECRET.test(path.at(-1) ?? '')) return 'hidden'
  const text = withoutCredentials(JSON.stringify(value) ?? 'absent')
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function plain(message: string): string {
  return message.split('\n')[0] ?? message
}
