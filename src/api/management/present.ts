import type { Definition } from '../../publishing/definition.ts'
import type { DatasetPreview, PreviewedField } from '../../publishing/management/dataset-preview.ts'
import type { DeskDataset } from '../../publishing/management/desk-types.ts'
import type { PublicationState } from '../../publishing/publication-state.ts'
import { EXPLORE_V21 } from '../../query/dialect.ts'
import { valueJson } from '../../query/execute/record-json.ts'
import type { FieldSpec } from '../../sources/typing/fields.ts'

const STYLE = { dialect: EXPLORE_V21, timezone: 'UTC' } as const

/** A dataset as the API describes it; the names are those of Opendatasoft's Automation API where these exist. */
export function datasetJson(base: string, dataset: DeskDataset, definition: Definition | null): unknown {
  const { id, title, state, hasDraft, visibility, manifest } = dataset
  return {
    dataset_id: id,
    title,
    state,
    is_published: manifest !== null,
    is_restricted: visibility === 'restricted',
    has_draft: hasDraft,
    version: manifest?.version ?? null,
    published: manifest?.published ?? null,
    records_count: manifest?.statistics.records ?? null,
    restored: manifest?.restored?.version ?? null,
    source: definition === null ? null : sourceJson(definition),
    refresh: definition?.remote?.schedule ?? null,
    record_id: definition === null || definition.identity.length === 0 ? null : definition.identity,
    processors: definition?.processors.map(({ step }) => ({ [step.type]: step.settings })) ?? [],
    metadata: definition?.metas ?? null,
    links: {
      self: `${base}/api/management/v1/datasets/${id}`,
      desk: `${base}/desk/${id}/`,
      page: `${base}/explore/dataset/${id}/`,
      versions: `${base}/api/versions/${id}`,
    },
  }
}

/** Of an address, itself: not the file that was fetched from it. */
function sourceJson({ source, remote }: Definition): unknown {
  if (remote === null) return source
  const { path: _, ...options } = source
  const { url, authorization } = remote
  return { url, ...(authorization === undefined ? {} : { authorization }), ...options }
}

export function fieldJson({
  name,
  type = 'text',
  from,
  label,
  description,
  annotations,
  format,
  timezone,
}: FieldSpec) {
  return {
    name,
    type,
    from: from ?? name,
    label: label ?? name,
    description: description ?? null,
    annotations: annotations ?? {},
    ...(format === undefined ? {} : { format }),
    ...(timezone === undefined ? {} : { timezone }),
  }
}

export function previewJson({ fields, records, examined }: DatasetPreview): unknown {
  const value = ({ field }: PreviewedField, raw: Parameters<typeof valueJson>[0]) =>
    valueJson(raw, field.type, STYLE)
  return {
    examined,
    fields: fields.map(each => ({
      ...fieldJson(each.spec),
      examples: each.examples.map(example => value(each, example)),
      misfits:
        each.conversionErrors === null
          ? null
          : {
              count: each.conversionErrors.count,
              expected: each.conversionErrors.expected,
              examples: each.conversionErrors.examples,
            },
    })),
    records: records.map(values =>
      Object.fromEntries(fields.map((each, at) => [each.spec.name, value(each, values[at] ?? null)])),
    ),
  }
}

/** The status of the latest publication (Automation API, "Retrieve dataset status"). */
export function statusJson(dataset: DeskDataset, state: PublicationState | null): unknown {
  const version = dataset.manifest?.version ?? null
  switch (state?.type) {
    case undefined:
    case 'done':
      return { name: 'idle', version, is_published: version !== null }
    case 'running':
      return { name: 'processing', records: state.records, version, is_published: version !== null }
    case 'refused':
      return {
        name: 'warning',
        message: state.diagnostics.map(({ message }) => message).join('\n'),
        version,
        is_published: version !== null,
      }
    case 'failed':
      return { name: 'error', message: state.reason, version, is_published: version !== null }
    default:
      return state satisfies never
  }
}
