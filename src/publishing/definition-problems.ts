import type { Problem, ReadDocument } from '../config/document.ts'
import { Fault, type FaultPlace, placeText } from '../errors/errors.ts'
import { isSchedule, SCHEDULE_EXPECTED } from '../runtime/cron.ts'
import { compileFields } from '../sources/fields.ts'
import { rdfFormatOf } from '../sources/rdf.ts'
import { type DeclaredDataset, fieldSpec, sourceOf } from './definition-schema.ts'
import { metadataProblems } from './metadata-problems.ts'
import { processorsOf, STEP_TYPES, stepOf } from './processors/schema.ts'
import { compileStep } from './processors/steps.ts'

/** A problem of a valid document at a path of it. */
interface PathProblem {
  readonly path: readonly string[]
  readonly message: string
}

type PlaceOf = (path: readonly string[]) => FaultPlace

/** What its schema does not show of a dataset.yaml. */
export interface DefinitionFindings {
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
    warnings: metadata.filter(each => !isError(each)).map(placed),
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
