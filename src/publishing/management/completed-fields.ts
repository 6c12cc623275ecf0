import { Fault } from '../../errors/errors.ts'
import { FIELD_TYPES, type FieldType } from '../../model/field.ts'
import { formatOfType } from '../../sources/guess/format-of-type.ts'
import { type FieldSpec, fieldReader } from '../../sources/typing/fields.ts'
import { definitionOf } from '../definition.ts'
import type { DefinitionChange, FieldEdit } from '../edit-definition.ts'
import { openRecords, resolveSource, withPlaces } from '../materialise.ts'

/** Records of which the values decide the format of a field. */
const EXAMINED = 1000

/** A change with complete fields, see {@link completedFields}, where the source is as it was and can be read. */
export async function completedChange(
  root: string,
  id: string,
  change: DefinitionChange,
): Promise<DefinitionChange> {
  const { fields, source, format, options, processors } = change
  const isOther = [source, format, options, processors].some(each => each !== undefined)
  if (fields === undefined || fields === null || isOther) return change
  try {
    return { ...change, fields: await completedFields(root, id, fields) }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return change
  }
}

/**
 * The fields of a change with what it leaves open: fields that were inferred until now keep their columns and formats, and a field of
 * another type gets the format that most of its values have. Faults: ConfigInvalid, SourceUnreadable.
 *
 * @param root of a portal, or of a draft
 */
async function completedFields(
  root: string,
  id: string,
  edits: readonly FieldEdit[],
): Promise<readonly FieldEdit[]> {
  const definition = definitionOf(root, id)
  const { fields: declared, rdf } = definition
  if (rdf !== null || (declared !== null && edits.every(edit => !isOtherType(edit, named(declared, edit)))))
    return edits
  const { source, fields } = await resolveSource(definition, root)
  const rows: Readonly<Record<string, unknown>>[] = []
  const firstRows = async () => {
    if (rows.length > 0) return rows
    const records = await openRecords(definition, source, root)
    await withPlaces(definition, async () => {
      for await (const batch of records.read()) {
        rows.push(...batch.map(({ data }) => data))
        if (rows.length >= EXAMINED) break
      }
    })
    return rows
  }
  const completed: FieldEdit[] = []
  for (const edit of edits) {
    const spec = named(fields, edit)
    if (spec === undefined) completed.push(edit)
    else {
      const inferred = declared === null ? inferredMembers(spec, edit) : {}
      const format = isOtherType(edit, spec) ? otherFormat(spec, edit, await firstRows()) : {}
      completed.push({ ...inferred, ...format, ...edit, ...annotationsOf(spec, edit, declared === null) })
    }
  }
  return completed
}

function named(fields: readonly FieldSpec[], { name }: FieldEdit): FieldSpec | undefined {
  return fields.find(field => field.name === name)
}

function isOtherType(edit: FieldEdit, spec: FieldSpec | undefined): boolean {
  return spec !== undefined && typeOf(edit) !== undefined && edit.type !== (spec.type ?? 'text')
}

/** The type that an edit names; undefined for one that does not exist, which is refused later. */
function typeOf({ type }: FieldEdit): FieldType | undefined {
  return FIELD_TYPES.find(each => each === type)
}

/** What inference found for a field, without its name, label and annotations. */
function inferredMembers({ name, from, keys, nulls, format, timezone }: FieldSpec, edit: FieldEdit) {
  return {
    ...(from === undefined || from === name ? {} : { from }),
    ...(keys === undefined ? {} : { keys }),
    ...(nulls === undefined ? {} : { nulls }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(format === undefined || edit.type === undefined ? {} : { format }),
  }
}

/** The format of another type; null for its plain form. */
function otherFormat(
  { name, from = name }: FieldSpec,
  edit: FieldEdit,
  rows: readonly Readonly<Record<string, unknown>>[],
): { readonly format: string | null } {
  const type = typeOf(edit)
  if (type === undefined || typeof from !== 'string') return { format: null }
  return { format: formatOfType(type, rows.map(fieldReader(from))) ?? null }
}

/** Only texts are lists. */
function annotationsOf(
  { annotations = {} }: FieldSpec,
  { type, annotations: given }: FieldEdit,
  isInferred: boolean,
) {
  const isList = annotations.multivalued !== undefined && type !== undefined && type !== 'text'
  if (!isInferred && !isList) return {}
  const changed = {
    ...(isInferred ? annotations : {}),
    ...(given as object | undefined),
    ...(isList ? { multivalued: null } : {}),
  }
  return Object.keys(changed).length === 0 ? {} : { annotations: changed }
}
