import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Static } from 'typebox'
import { type Problem, readDocument } from '../config/document.ts'
import { CONFIG_INVALID } from '../config/faults.ts'
import { Fault, placeText } from '../errors/errors.ts'
import type { Attachment, Visibility } from '../model/dataset.ts'
import type { Metas, MetaValue } from '../model/metadata.ts'
import type { RdfFormat } from '../model/rdf-format.ts'
import { titleFromName } from '../model/title.ts'
import { isSchedule } from '../runtime/cron.ts'
import type { FieldSpec } from '../sources/fields.ts'
import { isRecordFormat, openFile, type SourceSpec } from '../sources/open.ts'
import { rdfFormatOf } from '../sources/rdf.ts'
import { describeAttachments } from './attachments.ts'
import { DATASET_SCHEMA, type FieldSchema } from './definition-schema.ts'
import { DATASET_ID, type ImplicitSource, implicitSources, severalFilesText } from './implicit.ts'
import { type Processor, processorsOf, STEP_TYPES, stepOf } from './processors/schema.ts'
import type { Remote } from './remote/refresh.ts'
import { remoteFolder, remoteState } from './remote/state.ts'
import { suggestedDataset } from './suggested-dataset.ts'

export { DATASET_ID } from './implicit.ts'

/** A dataset as its publisher declared it, before its source is read. */
export interface Definition {
  readonly id: string
  /** Absolute folder of dataset.yaml. */
  readonly folder: string
  /** The text of dataset.yaml, part of the fingerprint; for a dataset without dataset.yaml, the name of its file. */
  readonly text: string
  /** True for a file or folder without dataset.yaml: the whole definition is inferred. */
  readonly isImplicit: boolean
  readonly source: SourceSpec
  /** The folder that the path of the source is relative to: that of dataset.yaml, or of the fetched files. */
  readonly sourceFolder: string
  /** The address from which the source is fetched; null for a file of the portal. */
  readonly remote: Remote | null
  /** The syntax of an RDF source; null for a source of records. */
  readonly rdf: RdfFormat | null
  /** The steps between the source and the fields, in order. */
  readonly processors: readonly Processor[]
  /** null if the fields are to be inferred. */
  readonly fields: readonly FieldSpec[] | null
  readonly identity: readonly string[]
  readonly metas: Metas
  readonly visibility: Visibility
  readonly attachments: readonly Attachment[]
  /** The harvester that created it, and its id in the source catalog; null for a dataset of the portal itself. */
  readonly harvest: { readonly by: string; readonly dataset: string } | null
}

/**
 * The sorted ids of all datasets of a portal folder: folders with dataset.yaml, and data files and folders without one, whose
 * types are inferred.
 */
export function definedDatasets(portal: string): readonly string[] {
  const data = path.join(portal, 'data')
  try {
    const described = readdirSync(data, { withFileTypes: true })
      .filter(entry => entry.isDirectory() && existsSync(path.join(data, entry.name, 'dataset.yaml')))
      .map(entry => entry.name)
    return [...new Set([...described, ...implicitSources(portal).keys()])].sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Reads data/{id}/dataset.yaml. Problems have file, line and column; the definition is null if there are any. */
export function readDefinition(
  portal: string,
  id: string,
): { definition: Definition | null; problems: readonly Problem[] } {
  const folder = path.join(portal, 'data', id)
  const file = path.join(folder, 'dataset.yaml')
  if (!DATASET_ID.test(id)) {
    const message = `${JSON.stringify(id)} is not a dataset id: lower-case letters, digits, - and _, at most 100`
    return { definition: null, problems: [{ message: withSuggestion(message, id, portal), place: {} }] }
  }
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const implicit = code === 'ENOENT' ? implicitSources(portal).get(id) : undefined
    if (implicit !== undefined) return implicitDefinition(id, implicit)
    const message =
      code === 'ENOENT' ? `there is no dataset ${id}: ${file} was not found` : `${file} cannot be read`
    return { definition: null, problems: [{ message: withSuggestion(message, id, portal), place: {} }] }
  }
  const { value, problems, placeOf } = understood(text, file)
  if (value === null || problems.length > 0) return { definition: null, problems }
  const processors = processorsOf(value.processors ?? [], placeOf)
  return { definition: { ...build(portal, id, text, value), processors }, problems: [] }
}

/** Parses a text of dataset.yaml; the problems are those of the schema, or else contradictions between its parts. */
function understood(text: string, file: string) {
  const document = readDocument(text, file, DATASET_SCHEMA)
  const { value, placeOf } = document
  if (value === null) return document
  const problems = [
    ...inconsistencies(value).map(message => ({ message, place: { file } })),
    ...unclearSteps(value).map(({ message, at }) => ({
      message,
      place: placeOf(['processors', String(at)]),
    })),
  ]
  return { ...document, problems }
}

/** The problems of a text of dataset.yaml, one sentence each. */
export function definitionProblems(text: string): readonly string[] {
  return understood(text, 'dataset.yaml').problems.map(({ message }) => message)
}

function withSuggestion(message: string, id: string, portal: string): string {
  const suggestion = suggestedDataset(id, definedDatasets(portal))
  return suggestion === '' ? message : `${message}. ${suggestion}`
}

/** The definition of a dataset, or a ConfigInvalid fault that lists every problem of dataset.yaml. */
export function definitionOf(portal: string, id: string): Definition {
  const { definition, problems } = readDefinition(portal, id)
  if (definition !== null) return definition
  const reported = problems.map(({ message, place }) => `${placeText(place)}${message}`)
  throw new Fault(
    CONFIG_INVALID,
    { reason: reported.join('\n') },
    problems[0] === undefined ? {} : { place: problems[0].place },
  )
}

/** `da_` and six letters or digits derived from the id. */
export function datasetUid(id: string): string {
  const digest = createHash('sha1').update(id).digest()
  return `da_${BigInt(`0x${digest.toString('hex')}`)
    .toString(36)
    .slice(-6)}`
}

function inconsistencies(value: Static<typeof DATASET_SCHEMA>): readonly string[] {
  const found: string[] = []
  const kinds = Object.keys(value.source).filter(key => key !== 'authorization')
  if (kinds.length !== 1)
    found.push(`source has ${kinds.length} of path, package, module and url: exactly one is expected`)
  const { url, authorization } = value.source
  if (url === undefined && (value.refresh !== undefined || authorization !== undefined))
    found.push(
      `${authorization === undefined ? 'refresh' : 'authorization'} means something only for a source with an url`,
    )
  if (value.refresh !== undefined && !isSchedule(value.refresh))
    found.push(
      `refresh is ${JSON.stringify(value.refresh)}: hourly, daily, weekly, monthly or a cron expression of five fields is expected`,
    )
  const names = value.fields?.map(field => field.name) ?? []
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) found.push(`field ${twice} is declared twice`)
  const lost = value.fields === undefined ? undefined : value.id?.find(name => !names.includes(name))
  if (lost !== undefined) found.push(`id names ${lost}, which is no field`)
  const rdf = rdfFormatOf(sourceOf(value))
  const useless = (['processors', 'fields', 'id', 'options'] as const).find(key => value[key] !== undefined)
  if (rdf !== undefined && useless !== undefined)
    found.push(`a source of RDF (${rdf}) has triples and no records: ${useless} means nothing there`)
  if (rdf !== undefined && value.source.module !== undefined)
    found.push(`RDF (${rdf}) is read from a file: name it with path or package instead of module`)
  return found
}

/** Entries of the list of processors that do not have exactly one step. */
function unclearSteps({ processors = [] }: Static<typeof DATASET_SCHEMA>) {
  return processors.flatMap((declared, at) => {
    const steps = stepOf(declared)
    if (typeof steps !== 'number') return []
    const message = `step ${at + 1} of processors has ${steps} of ${STEP_TYPES.join(', ')}: exactly one is expected`
    return [{ message, at }]
  })
}

/** The definition of a file or folder without dataset.yaml. Several files of data are a problem. */
function implicitDefinition(id: string, implicit: ImplicitSource): ReturnType<typeof readDefinition> {
  const { folder, file, others } = implicit
  if (others.length > 0)
    return { definition: null, problems: [{ message: severalFilesText(implicit), place: { file: folder } }] }
  const source = sniffedSource({ folder, file })
  const definition: Definition = {
    id,
    folder,
    text: file,
    isImplicit: true,
    source,
    sourceFolder: folder,
    remote: null,
    rdf: rdfFormatOf(source) ?? null,
    processors: [],
    fields: null,
    identity: [],
    metas: { default: { title: titleFromName(file) } },
    visibility: 'public',
    attachments: [],
    harvest: null,
  }
  return { definition, problems: [] }
}

/** The source for a file whose name does not identify its format. */
function sniffedSource({ folder, file }: Pick<ImplicitSource, 'folder' | 'file'>): SourceSpec {
  const source: SourceSpec = { path: file }
  if (!/\.(?:zip|xml|json)(?:\.gz)?$/i.test(file)) return source
  try {
    const { format } = openFile(source, { datasetFolder: folder, portalFolder: folder })
    return isRecordFormat(format) ? source : { ...source, format }
  } catch {
    // Problems of the file are reported when it is read.
    return source
  }
}

function build(
  portal: string,
  id: string,
  text: string,
  value: Static<typeof DATASET_SCHEMA>,
): Omit<Definition, 'processors'> {
  const folder = path.join(portal, 'data', id)
  const remote = remoteOf(value)
  const declared = sourceOf(value)
  const source = remote === null ? declared : fetchedSource(portal, id, declared)
  return {
    id,
    folder,
    text,
    isImplicit: false,
    source,
    sourceFolder: remote === null ? folder : remoteFolder(portal, id),
    remote,
    rdf: rdfFormatOf(source) ?? null,
    fields: value.fields === undefined ? null : value.fields.map(field => fieldSpec(field)),
    identity: value.id ?? [],
    metas: metasOf(value.metas ?? {}),
    visibility: value.visibility ?? 'public',
    attachments: describeAttachments(value.attachments ?? []),
    harvest: value.harvest ?? null,
  }
}

function remoteOf({ source, refresh }: Static<typeof DATASET_SCHEMA>): Remote | null {
  const { url, authorization } = source
  if (url === undefined) return null
  return {
    url,
    ...(authorization === undefined ? {} : { authorization }),
    ...(refresh === undefined ? {} : { schedule: refresh }),
  }
}

/** The source that was fetched last; before the first fetch, the file name in the address. */
function fetchedSource(portal: string, id: string, declared: SourceSpec): SourceSpec {
  const state = remoteState(portal, id)
  if (state?.file === undefined) return { ...declared, path: 'data' }
  const file = { folder: remoteFolder(portal, id), file: state.file }
  return declared.format === undefined
    ? { ...sniffedSource(file), ...declared, path: state.file }
    : { ...declared, path: state.file }
}

function sourceOf(value: Static<typeof DATASET_SCHEMA>): SourceSpec {
  const { url: _, authorization: __, ...source } = value.source
  return {
    ...source,
    ...(value.format === undefined ? {} : { format: value.format }),
    ...(value.options === undefined ? {} : { options: value.options as NonNullable<SourceSpec['options']> }),
  }
}

function fieldSpec(field: Static<typeof FieldSchema>): FieldSpec {
  const annotations = Object.fromEntries(
    Object.entries(field.annotations ?? {}).map(([key, args]) => [key, flagArguments(args)]),
  )
  return { ...field, annotations } as FieldSpec
}

/** An annotation is a list of arguments; `true` is a flag without arguments. */
function flagArguments(args: string | number | boolean | readonly (string | number | boolean)[]) {
  return Array.isArray(args) ? args : args === true ? [] : [args]
}

function metasOf(given: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Metas {
  return Object.fromEntries(
    Object.entries(given).map(([template, entries]) => [
      template,
      Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, value as MetaValue])),
    ]),
  )
}
