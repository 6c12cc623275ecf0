import { CONFIG_INVALID } from '../../config/faults.ts'
import { BAD_REQUEST, Fault, faultText, isFault, recoded, SOURCE_UNREADABLE } from '../../errors/errors.ts'
import { MAPPING_INVALID } from '../../mapping/diagnostic.ts'
import type { Field } from '../../model/field.ts'
import { titleFromName } from '../../model/title.ts'
import type { Value } from '../../model/value.ts'
import { type Inspection, inspectFormat, inspectSource, lastingOptions } from '../../sources/inspect.ts'
import type { SourceFolders, SourceOptions, SourceSpec } from '../../sources/open.ts'
import { RDF_FORMATS } from '../../sources/rdf.ts'
import { isUndecided } from '../../sources/source.ts'
import { type FieldSpec, fieldOf } from '../../sources/typing/fields.ts'
import { type FieldConversionErrors, typeRecords } from '../../sources/typing/typed-records.ts'
import { type Definition, definitionOf } from '../definition.ts'
import type { DefinitionChange, FieldEdit } from '../edit-definition.ts'
import { openRecords, type ResolvedSource, resolveSource, resolveWhole, withPlaces } from '../materialise.ts'

/** Records from which examples are taken. */
const EXAMINED = 1000

/** Distinct examples of a field. */
const EXAMPLES = 3

/** A field as inferred or declared, with examples of its values. */
export interface PreviewedField {
  readonly spec: FieldSpec
  readonly field: Field
  readonly examples: readonly Value[]
  /** Values of the examined records that cannot be converted. */
  readonly conversionErrors: FieldConversionErrors | null
}

/** A preview of a dataset. */
export interface DatasetPreview {
  readonly fields: readonly PreviewedField[]
  /** The first records, their values in the order of the fields. */
  readonly records: readonly (readonly Value[])[]
  readonly examined: number
  /** Fields whose columns the source does not have, as far as it was read. */
  readonly missing: readonly string[]
  /** Columns that no field takes; none where the source has no header. */
  readonly unread: readonly string[]
}

/** How the source was read that a file replaces. */
export interface ReplacedSource {
  readonly options: SourceOptions
  /** The columns of the declared fields; null where fields are inferred. */
  readonly columns: readonly string[] | null
}

/** What was left out, chosen or assumed of a file, or may be better about one of its fields. */
export interface Suggestion {
  readonly field?: string
  readonly message: string
}

type Understood = Pick<DefinitionChange, 'format' | 'options' | 'fields'> & {
  readonly suggestions: readonly Suggestion[]
}

/**
 * The inferred content of dataset.yaml for a file: the only place that decides how an uploaded file is interpreted. A file of which a
 * part has to be chosen has no fields yet. Faults: BadRequest for an unreadable file.
 *
 * @param folder of the file
 * @param replaced the source until now, whose options stay where the file can be read by them
 */
export async function understandFile(
  folder: string,
  name: string,
  portal: string,
  replaced: ReplacedSource | null,
): Promise<Understood & Pick<DefinitionChange, 'source'> & { readonly title: string }> {
  return asBadRequest(async () => {
    const folders = { datasetFolder: folder, portalFolder: portal }
    const title = titleFromName(name.replace(/\.gz$/i, ''))
    const source = { path: name }
    try {
      return { ...(await understoodAs(replaced, source, folders)), source, title }
    } catch (error) {
      if (!isUndecided(error)) throw error
      return { source, format: null, options: null, fields: null, title, suggestions: [] }
    }
  })
}

async function understoodAs(
  replaced: ReplacedSource | null,
  source: SourceSpec & { readonly path: string },
  folders: SourceFolders,
): Promise<Understood> {
  const { encoding, ...options } = replaced?.options ?? {}
  const hasOptions = Object.keys(options).length > 0
  try {
    const spec = hasOptions ? { ...source, options } : source
    const format = inspectFormat(spec, folders)
    const plain = source.path.slice(source.path.lastIndexOf('.') + 1).toLowerCase()
    if (RDF_FORMATS.some(known => known === format))
      return {
        format: format === plain ? null : format,
        options: hasOptions ? options : null,
        suggestions: [],
      }
    const first = await inspectSource(spec, folders)
    const guessed = first.source.options?.encoding
    // The encoding of each file is detected; where that is a guess, the declared one is better.
    const isGuess = encoding !== undefined && guessed !== undefined && !guessed.startsWith('utf')
    const {
      source: found,
      fields,
      columns,
      diagnostics,
    } = isGuess && guessed !== encoding
      ? await inspectSource({ ...source, options: { ...options, encoding } }, folders)
      : first
    const isSame = replaced?.columns?.some(name => columns.some(({ column }) => column === name)) ?? true
    if (hasOptions && !isSame) return understoodAs(null, source, folders)
    const lasting = lastingOptions(found, options)
    return {
      format: found.format === undefined || found.format === plain ? null : found.format,
      options: lasting === undefined ? null : { ...lasting },
      fields: fields as unknown as readonly FieldEdit[],
      suggestions: [
        ...diagnostics.map(message => ({ message })),
        ...columns.flatMap(({ field, suggestion }) =>
          suggestion === undefined ? [] : [{ field, message: suggestion }],
        ),
      ],
    }
  } catch (error) {
    if (hasOptions && isFault(error, SOURCE_UNREADABLE, CONFIG_INVALID))
      return understoodAs(null, source, folders)
    throw error
  }
}

/**
 * What is inferred of the source of a dataset if it is read with other options than those of dataset.yaml. Faults: BadRequest for
 * an unreadable source.
 *
 * @param root of a portal, or of a draft
 */
export async function inspectDataset(
  root: string,
  id: string,
  how: { readonly format: string | null; readonly options: Readonly<Record<string, unknown>> },
): Promise<Inspection> {
  return asBadRequest(async () => {
    const definition = definitionOf(root, id, true)
    const { source, sourceFolder } = definition
    const { format: _, options: __, ...place } = source
    const spec = {
      ...place,
      ...(how.format === null ? {} : { format: how.format as NonNullable<SourceSpec['format']> }),
      ...(Object.keys(how.options).length === 0 ? {} : { options: how.options as SourceOptions }),
    }
    const folders = { datasetFolder: sourceFolder, portalFolder: root }
    return withPlaces(definition, () => inspectSource(spec, folders))
  })
}

/**
 * Reads the first records of a dataset as publishing will. Faults: BadRequest for an unreadable source.
 *
 * @param root of a portal, or of a draft
 */
export async function previewDataset(root: string, id: string, rows: number): Promise<DatasetPreview> {
  return asBadRequest(async () => {
    const definition = definitionOf(root, id)
    if (definition.rdf !== null) return { fields: [], records: [], examined: 0, missing: [], unread: [] }
    const resolved = await resolveSource(definition, root)
    const specs = resolved.fields
    const first = await firstRecords(definition, resolved, root)
    // The rows at the end that are no records are looked for where they are among the first ones.
    const whole = first.isAll && definition.fields !== null ? await resolveWhole(definition, root) : resolved
    const isSame = whole.source.options?.footer === resolved.source.options?.footer
    const { records, conversionErrors, missing, unread } = isSame
      ? first
      : await firstRecords(definition, whole, root)
    const fields = specs.map((spec, at) => ({
      spec,
      field: fieldOf(spec),
      examples: examplesOf(records.map(values => values[at] ?? null)),
      conversionErrors: conversionErrors.find(({ field }) => field === spec.name) ?? null,
    }))
    return { fields, records: records.slice(0, rows), examined: records.length, missing, unread }
  })
}

async function firstRecords(definition: Definition, { source, fields }: ResolvedSource, root: string) {
  const opened = await openRecords(definition, source, root)
  const typed = typeRecords(opened, fields)
  const records: (readonly Value[])[] = []
  let isAll = true
  await withPlaces(definition, async () => {
    for await (const { values } of typed.batches()) {
      records.push(...values)
      isAll = records.length < EXAMINED
      if (!isAll) break
    }
  })
  const { misfits: conversionErrors, missing, unread } = typed.report()
  const isKnown = isAll || opened.columns !== undefined
  const lacking = isKnown ? [...new Set(missing.map(({ field }) => field))] : []
  return { records, conversionErrors, isAll, missing: lacking, unread }
}

function examplesOf(values: readonly Value[]): readonly Value[] {
  const found = new Map<string, Value>()
  for (const value of values) {
    if (value === null) continue
    found.set(typeof value === 'object' ? JSON.stringify(value) : String(value), value)
    if (found.size === EXAMPLES) break
  }
  return [...found.values()]
}

/** Turns errors of a user's files into faults of the request. */
export async function asBadRequest<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // A text of its own: these places are in the data, others in dataset.yaml or the mapping.
    if (isFault(error, SOURCE_UNREADABLE))
      throw new Fault(BAD_REQUEST, { reason: faultText(error) }, { cause: error })
    if (isFault(error, CONFIG_INVALID, MAPPING_INVALID)) throw recoded(error, BAD_REQUEST)
    throw error
  }
}
