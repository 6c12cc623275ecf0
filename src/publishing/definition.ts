import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Static } from 'typebox'
import { type Problem, readDocument } from '../config/document.ts'
import { CONFIG_INVALID } from '../config/faults.ts'
import { Fault, type FaultPlace, placeText } from '../errors/errors.ts'
import type { Attachment, Visibility } from '../model/dataset.ts'
import type { Metas } from '../model/metadata.ts'
import type { RdfFormat } from '../model/rdf-format.ts'
import { titleFromName } from '../model/title.ts'
import { isRecordFormat, openFile, type SourceSpec } from '../sources/open.ts'
import { rdfFormatOf } from '../sources/rdf.ts'
import type { FieldSpec } from '../sources/typing/fields.ts'
import { describeAttachments } from './attachments.ts'
import { definitionFindings, readableMetas } from './definition-problems.ts'
import { DATASET_SCHEMA, fieldSpec, sourceOf } from './definition-schema.ts'
import {
  DATASET_ID,
  type ImplicitSource,
  implicitSource,
  implicitSources,
  isDescribed,
  severalFilesText,
} from './implicit.ts'
import { type Processor, processorsOf } from './processors/schema.ts'
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
  /** The position of a member in dataset.yaml; nothing if there is none. */
  readonly placeOf: (path: readonly string[]) => FaultPlace
}

/**
 * The sorted ids of all datasets of a portal folder: folders with dataset.yaml, and data files and folders without one, whose
 * types are inferred.
 *
 * @param implicit those without dataset.yaml, if they are known already
 */
export function definedDatasets(portal: string, implicit = implicitSources(portal)): readonly string[] {
  const data = path.join(portal, 'data')
  try {
    const described = readdirSync(data, { withFileTypes: true })
      .filter(entry => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(entry => entry.name)
      .filter(name => isDescribed(data, name))
    return [...new Set([...described, ...implicit.keys()])].sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** The result of reading dataset.yaml. */
interface ReadDefinition {
  /** null if there are any problems. */
  readonly definition: Definition | null
  /** With file, line and column, as the warnings. */
  readonly problems: readonly Problem[]
  /** Fields and steps that cannot be compiled: the definition can be edited and not be published. */
  readonly defects: readonly Problem[]
  /** Probable mistakes, with which the dataset is published nevertheless. */
  readonly warnings: readonly Problem[]
}

/** False if a word does not occur in dataset.yaml: where few of thousands of datasets have it, parsing all would take seconds. */
export function mayDefine(portal: string, id: string, word: string): boolean {
  try {
    return readFileSync(path.join(portal, 'data', id, 'dataset.yaml'), 'utf8').includes(word)
  } catch {
    return false
  }
}

/** Reads data/{id}/dataset.yaml. */
export function readDefinition(portal: string, id: string): ReadDefinition {
  const failed = (message: string): ReadDefinition => ({
    definition: null,
    problems: [{ message, place: {} }],
    defects: [],
    warnings: [],
  })
  const folder = path.join(portal, 'data', id)
  const file = path.join(folder, 'dataset.yaml')
  if (!DATASET_ID.test(id)) {
    const message = `${JSON.stringify(id)} is not a dataset id: lower-case letters, digits, - and _, at most 100`
    return failed(withSuggestion(message, id, portal))
  }
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const implicit = code === 'ENOENT' ? implicitSource(portal, id) : undefined
    if (implicit !== undefined) return implicitDefinition(id, implicit)
    if (code !== 'ENOENT') return failed(`${file} cannot be read: ${code}`)
    return failed(withSuggestion(`there is no dataset ${id}: ${file} was not found`, id, portal))
  }
  const { value, problems, defects, warnings, placeOf, writtenNumber } = understood(text, file)
  if (value === null || problems.length > 0) return { definition: null, problems, defects, warnings }
  const processors = processorsOf(value.processors ?? [], placeOf)
  return {
    definition: {
      ...build(portal, id, text, value),
      metas: readableMetas(value.metas ?? {}, writtenNumber),
      processors,
      placeOf,
    },
    problems: [],
    defects,
    warnings,
  }
}

/** Parses a text of dataset.yaml; the problems are those of the schema, or else of what its parts mean. */
function understood(text: string, file: string) {
  const document = readDocument(text, file, DATASET_SCHEMA)
  return document.value === null
    ? { ...document, defects: [], warnings: [] }
    : { ...document, ...definitionFindings(document.value, document) }
}

/**
 * The problems of a text of dataset.yaml, one sentence each.
 *
 * @param isWhole with those of fields and steps that cannot be compiled
 */
export function definitionProblems(text: string, isWhole: boolean): readonly string[] {
  const { problems, defects } = understood(text, 'dataset.yaml')
  return [...problems, ...(isWhole ? defects : [])].map(({ message }) => message)
}

function withSuggestion(message: string, id: string, portal: string): string {
  const suggestion = suggestedDataset(id, definedDatasets(portal))
  return suggestion === '' ? message : `${message}. ${suggestion}`
}

/**
 * The definition of a dataset, or a ConfigInvalid fault that lists every problem of dataset.yaml.
 *
 * @param isDraft true if only its source is used: fields and steps may be invalid
 */
export function definitionOf(portal: string, id: string, isDraft = false): Definition {
  const { definition, problems: invalid, defects } = readDefinition(portal, id)
  const problems = isDraft ? invalid : [...invalid, ...defects]
  if (definition !== null && problems.length === 0) return definition
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

/** The definition of a file or folder without dataset.yaml. Several files of data are a problem. */
function implicitDefinition(id: string, implicit: ImplicitSource): ReturnType<typeof readDefinition> {
  const { folder, file, others } = implicit
  if (others.length > 0)
    return {
      definition: null,
      problems: [{ message: severalFilesText(implicit), place: { file: folder } }],
      defects: [],
      warnings: [],
    }
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
    // A folder has the name of the dataset: the file in it is often called data.csv.
    metas: { default: { title: titleFromName(path.basename(folder) === id ? id : file) } },
    visibility: 'public',
    attachments: [],
    harvest: null,
    placeOf: () => ({}),
  }
  return { definition, problems: [], defects: [], warnings: [] }
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
): Omit<Definition, 'processors' | 'placeOf' | 'metas'> {
  const folder = path.join(portal, 'data', id)
  const declared = sourceOf(value)
  const remote = remoteOf(value, declared)
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
    visibility: value.visibility ?? 'public',
    attachments: describeAttachments(value.attachments ?? []),
    harvest: value.harvest ?? null,
  }
}

function remoteOf(
  { source, refresh }: Static<typeof DATASET_SCHEMA>,
  { options }: SourceSpec,
): Remote | null {
  const { url, authorization } = source
  if (url === undefined) return null
  return {
    url,
    ...(authorization === undefined ? {} : { authorization }),
    ...(refresh === undefined ? {} : { schedule: refresh }),
    ...(options === undefined ? {} : { options }),
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
