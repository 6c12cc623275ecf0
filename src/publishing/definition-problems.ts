import type { Problem, ReadDocument } from '../config/document.ts'
import { Fault, type FaultPlace, placeText } from '../errors/errors.ts'
import { nearest } from '../model/did-you-mean.ts'
import type { Metas, MetaValue } from '../model/metadata.ts'
import { type MetaType, TEMPLATES } from '../model/templates.ts'
import { isSchedule, SCHEDULE_EXPECTED } from '../runtime/cron.ts'
import { rdfFormatOf } from '../sources/rdf.ts'
import { compileFields } from '../sources/typing/fields.ts'
import { annotationProblems } from './annotation-problems.ts'
import { type DeclaredDataset, fieldSpec, sourceOf } from './definition-schema.ts'
import { EXPECTED, expectedValue, fits } from './metadata-values.ts'
import { processorsOf, STEP_TYPES, stepOf } from './processors/schema.ts'
import { compileStep } from './processors/steps.ts'

/** A problem of a valid document at a path of it. */
interface PathProblem {
  readonly path: readonly string[]
  readonly message: string
}

type PlaceOf = (path: readonly string[]) => FaultPlace

/** What its schema does not show of a dataset.yaml. */
interface DefinitionFindings {
  /** Contradictions between its parts, and values of metadata: there is no definition. */
  readonly problems: readonly Problem[]
  /** Fields and steps that cannot be compiled: the definition can be edited and not be published. */
  readonly defects: readonly Problem[]
  /** Probable mistakes, with which the dataset is published nevertheless. */
  readonly warnings: readonly Problem[]
}

/** All findings about a dataset.yaml that its schema does not show, with their positions. */
export function definitionFindings(
  value: DeclaredDataset,
  { placeOf, writtenNumber }: Pick<ReadDocument<DeclaredDataset>, 'placeOf' | 'writtenNumber'>,
): DefinitionFindings {
  const placed = ({ path, message }: PathProblem): Problem => ({ message, place: placeOf(path) })
  const metadata = metadataProblems(value.metas ?? {}, value.harvest !== undefined, writtenNumber)
  const isError = ({ severity }: (typeof metadata)[number]) => severity === 'error'
  return {
    problems: [
      ...[...sourceProblems(value), ...nameProblems(value), ...metadata.filter(isError)].map(placed),
      ...unclearSteps(value, placeOf),
    ],
    defects: [...[...fieldDefects(value)].map(placed), ...stepDefects(value, placeOf)],
    warnings: [
      ...metadata.filter(each => !isError(each)),
      ...(value.harvest === undefined ? annotationProblems(value) : []),
    ].map(placed),
  }
}

function* sourceProblems(value: DeclaredDataset): Generator<PathProblem> {
  const kinds = Object.keys(value.source).filter(key => key !== 'authorization')
  if (kinds.length !== 1)
    yield {
      path: ['source'],
      message: `source has ${kinds.length} of path, package, module and url: exactly one is expected`,
    }
  const { url, authorization } = value.source
  if (url === undefined) {
    const remote = 'means something only for a source with an url'
    if (authorization !== undefined)
      yield { path: ['source', 'authorization'], message: `authorization ${remote}` }
    if (value.refresh !== undefined) yield { path: ['refresh'], message: `refresh ${remote}` }
  }
  // What its pattern admits of a host and a port may be none.
  if (url !== undefined && !URL.canParse(url))
    yield {
      path: ['source', 'url'],
      message: `source.url is ${shown(url)}: an address with a valid host and port is expected`,
    }
  if (value.refresh !== undefined && !isSchedule(value.refresh))
    yield {
      path: ['refresh'],
      message: `refresh is ${JSON.stringify(value.refresh)}: ${SCHEDULE_EXPECTED}`,
    }
  const rdf = rdfFormatOf(sourceOf(value))
  if (rdf === undefined) return
  for (const useless of ['processors', 'fields', 'id', 'options'] as const)
    if (value[useless] !== undefined)
      yield {
        path: [useless],
        message: `a source of RDF (${rdf}) has triples and no records: ${useless} means nothing there`,
      }
  if (value.source.module !== undefined)
    yield {
      path: ['source', 'module'],
      message: `RDF (${rdf}) is read from a file: name it with path or package instead of module`,
    }
}

function* nameProblems({ fields, id = [] }: DeclaredDataset): Generator<PathProblem> {
  if (fields === undefined) return
  const names = fields.map(({ name }) => name)
  for (const [at, name] of names.entries())
    if (names.indexOf(name) !== at)
      yield { path: ['fields', String(at), 'name'], message: `field ${name} is declared twice` }
  for (const [at, name] of id.entries())
    if (!names.includes(name))
      yield { path: ['id', String(at)], message: `id names ${name}, which is no field` }
}

function* fieldDefects({ fields = [] }: DeclaredDataset): Generator<PathProblem> {
  for (const [at, field] of fields.entries()) {
    const path = ['fields', String(at)]
    const fault = faultOf(() => compileFields([fieldSpec(field)]))
    if (fault === null) continue
    const { setting } = fault.parts
    const reason = reasonOf(fault)
    yield {
      path: typeof setting === 'string' ? [...path, ...setting.split('.')] : path,
      message: reason.includes(`field ${field.name} `) ? reason : `field ${field.name}: ${reason}`,
    }
  }
}

/** Entries of the list of processors that do not have exactly one step. */
function unclearSteps({ processors = [] }: DeclaredDataset, placeOf: PlaceOf): readonly Problem[] {
  return processors.flatMap((declared, at): readonly Problem[] => {
    const steps = stepOf(declared)
    if (typeof steps !== 'number') return []
    const message = `step ${at + 1} of processors has ${steps} of ${STEP_TYPES.join(', ')}: exactly one is expected`
    return [{ message, place: placeOf(['processors', String(at)]) }]
  })
}

function stepDefects({ processors = [] }: DeclaredDataset, placeOf: PlaceOf): readonly Problem[] {
  return processorsOf(processors, placeOf).flatMap((processor): readonly Problem[] => {
    const fault = faultOf(() => compileStep(processor, null))
    return fault === null ? [] : [{ message: reasonOf(fault), place: fault.place }]
  })
}

function faultOf(compile: () => unknown): Fault | null {
  try {
    compile()
    return null
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

/** Reason and hint of a fault, without its position. */
function reasonOf({ message, place, hint }: Fault): string {
  const where = placeText(place)
  const reason = message.startsWith(where) ? message.slice(where.length) : message
  return hint === undefined ? reason : `${reason}\n  ${hint}`
}

/** The metadata of dataset.yaml, as its schema admits them. */
type DeclaredMetas = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A number of dataset.yaml as it is written. */
type WrittenNumber = (path: readonly string[]) => string | undefined

/** A value of metadata that is not of the type of its entry, or an entry that its template does not have. */
interface MetadataProblem {
  readonly path: readonly string[]
  readonly message: string
  /** A warning for a value that is read nevertheless. */
  readonly severity: 'error' | 'warning'
}

/** The entries of each template with a schema, with their types. */
const SCHEMAS: ReadonlyMap<string, ReadonlyMap<string, MetaType>> = new Map(
  TEMPLATES.filter(({ schema }) => schema.length > 0).map(({ name, schema }) => [
    name,
    new Map(schema.map(entry => [entry.name, entry.type])),
  ]),
)

/**
 * The problems of metadata. What a portal harvests is never an error, because its publisher cannot change it.
 *
 * @param isHarvested true if they come from another catalog, which may have templates of its own
 */
function metadataProblems(
  metas: DeclaredMetas,
  isHarvested: boolean,
  written: WrittenNumber,
): readonly MetadataProblem[] {
  return Object.entries(metas).flatMap(([template, entries]) => {
    const schema = SCHEMAS.get(template)
    if (schema === undefined)
      return isHarvested
        ? []
        : [...unknownTemplate(template), ...numbersWrittenOtherwise(template, entries, written)]
    return Object.entries(entries).flatMap(([name, value]): readonly MetadataProblem[] => {
      const path = ['metas', template, name]
      const type = schema.get(name)
      if (type === undefined)
        return isHarvested
          ? []
          : [{ path, message: unknownEntry(template, name, schema), severity: 'warning' }]
      const fit = fits(value, type)
      const expected =
        fit !== true ? EXPECTED[type] : isHarvested ? null : expectedValue(template, name, value)
      if (expected === null) return []
      const left = fit === false && isHarvested ? '; it is left out' : ''
      const message = `${path.join('.')} is ${written(path) ?? shown(value)}: ${expected} is expected${left}`
      return [{ path, message, severity: fit !== false || isHarvested ? 'warning' : 'error' }]
    })
  })
}

function unknownTemplate(template: string): readonly MetadataProblem[] {
  const near = nearest(
    template,
    TEMPLATES.map(({ name }) => name),
  )
  if (near === undefined || near === template) return []
  const message = `no template of metadata is called ${template}, did you mean ${near}?`
  return [{ path: ['metas', template], message, severity: 'warning' }]
}

/** Warnings for numbers that may be texts: 1.10 is a version, or the number 1.1. */
function numbersWrittenOtherwise(
  template: string,
  entries: DeclaredMetas[string],
  written: WrittenNumber,
): readonly MetadataProblem[] {
  return Object.entries(entries).flatMap(([name, value]) => {
    const path = ['metas', template, name]
    const text = written(path)
    if (text === undefined || text === String(value)) return []
    const message = `${path.join('.')} is the number ${value}, which is written ${text}: where it is a text, put it in quotes`
    return [{ path, message, severity: 'warning' }]
  })
}

function unknownEntry(template: string, name: string, schema: ReadonlyMap<string, MetaType>): string {
  const near = nearest(name, schema.keys())
  const known = near === undefined ? 'metadata of your own belong to custom' : `did you mean ${near}?`
  return `the template ${template} has no entry ${name}, ${known}`
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/**
 * Metadata without empty values, which import writes to be filled in, and those that are not of the type of their entry; a single text of a list
 * becomes one, a number the text that is written: the version 1.10 is not 1.1.
 */
export function readableMetas(metas: DeclaredMetas, written: WrittenNumber): Metas {
  return Object.fromEntries(
    Object.entries(metas).map(([template, entries]) => [
      template,
      Object.fromEntries(
        Object.entries(entries).flatMap(([name, value]): readonly [string, MetaValue][] => {
          const type = SCHEMAS.get(template)?.get(name)
          if (type === undefined) return [[name, value as MetaValue]]
          const fit = fits(value, type)
          if (fit === false || String(value).trim() === '') return []
          const path = ['metas', template, name]
          return [[name, fit === true ? (value as MetaValue) : converted(value, type, path, written)]]
        }),
      ),
    ]),
  )
}

function converted(
  value: unknown,
  type: MetaType,
  path: readonly string[],
  written: WrittenNumber,
): MetaValue {
  // Several texts, of creators for example, stay a list.
  if (Array.isArray(value)) return value.map((each, at) => written([...path, String(at)]) ?? String(each))
  const text = written(path) ?? String(value)
  return type === 'list' ? [text] : text
}
