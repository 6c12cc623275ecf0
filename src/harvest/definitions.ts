import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isMap, isSeq, parseDocument, stringify } from 'yaml'
import { readDocument, trusted } from '../config/document.ts'
import { lookup, setMember } from '../model/lookup.ts'
import type { MetaValue } from '../model/metadata.ts'
import { datasetIdOf } from '../model/readable-name.ts'
import { definedDatasets, readDefinition } from '../publishing/definition.ts'
import { DATASET_SCHEMA } from '../publishing/definition-schema.ts'
import { changedDefinition, type DefinitionChange } from '../publishing/edit-definition.ts'
import { replaceDurably } from '../publishing/versions/durable.ts'
import { readmit, versionsOf } from '../publishing/versions/versions.ts'
import { type OfferedDataset, objectOf } from './catalog.ts'
import type { Harvester } from './settings.ts'
import type { HarvestedState } from './state.ts'

type OfferedField = NonNullable<OfferedDataset['fields']>[number]

/** The datasets of a portal that a harvester created, by their ids in its catalog, according to dataset.yaml. */
export function harvestedDatasets(portal: string, harvester: string): ReadonlyMap<string, string> {
  return new Map(
    definedDatasets(portal).flatMap(id => {
      const { harvest } = readDefinition(portal, id).definition ?? {}
      return harvest?.by === harvester ? [[harvest.dataset, id] as const] : []
    }),
  )
}

/** The local id of a dataset of a catalog: readable; if it is taken, some digits are appended. */
export function localId({ prefix }: Harvester, remote: string, taken: ReadonlySet<string>): string {
  const last = remote.replace(/[/#]+$/, '').replace(/^.*[/#]/, '')
  const name = datasetIdOf(last.replaceAll('.', '-')) || digitsOf(remote)
  const plain = `${prefix}${name}`.replace(/^[^a-z0-9]+/, '')
  let id = plain.slice(0, 100)
  for (let attempt = 0; taken.has(id); attempt++)
    id = `${plain.slice(0, 91)}-${digitsOf(attempt === 0 ? remote : `${remote} ${attempt}`)}`
  return id
}

function digitsOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

/** The metadata of a harvested dataset: those of its catalog, and its origin. */
function metasOf({ metas, id, page }: OfferedDataset, { title, url }: Harvester): OfferedDataset['metas'] {
  const { host, origin, pathname, search } = new URL(url)
  // The query of a catalog may hold a key.
  const address = search === '' ? url : `${origin}${pathname}`
  return {
    ...metas,
    default: {
      ...metas.default,
      source_domain: host,
      source_domain_title: title ?? host,
      source_domain_address: page ?? address,
      source_dataset: id,
      federated: true,
    },
  }
}

function sourceOf({ url }: OfferedDataset, harvester: Harvester): Readonly<Record<string, string>> {
  const isHome = new URL(url).origin === new URL(harvester.url).origin
  const { authorization } = harvester
  return { url, ...(isHome && authorization !== undefined ? { authorization } : {}) }
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}

/** The keys of a piece of metadata and of a member of a field among the parts of a state. */
const metaKey = (template: string, name: string) => `${template}.${name}`
const fieldKey = (field: unknown, member: string) => `field ${String(field)} ${member}`

/** The annotations of a field as members of it: `annotations.facet`. */
function annotationsOf(field: OfferedField): readonly (readonly [member: string, value: unknown])[] {
  return Object.entries(objectOf(field.annotations)).map(([name, value]) => [`${ANNOTATION}${name}`, value])
}

const ANNOTATION = 'annotations.'

/** Digests of the parts of an offered dataset. */
export function stateOf(offered: OfferedDataset, harvester: Harvester): HarvestedState {
  const metas = metasOf(offered, harvester)
  const pieces = Object.entries(metas).flatMap(([template, members]) =>
    Object.entries(members).map(([name, value]) => [metaKey(template, name), digest(value)] as const),
  )
  const columns = (offered.fields ?? []).flatMap(field =>
    [...Object.entries(field), ...annotationsOf(field)].map(
      ([member, value]) => [fieldKey(field.name, member), digest(value)] as const,
    ),
  )
  return {
    source: digest([sourceOf(offered, harvester), offered.format ?? null, harvester.refresh]),
    fields: digest(offered.fields ?? null),
    metas: digest(metas),
    names: pieces.map(([key]) => key),
    parts: Object.fromEntries([...pieces, ...columns]),
    modified: offered.modified,
  }
}

/** The fields that identify a record, according to the catalog. */
function identityOf(fields: readonly OfferedField[]): readonly string[] {
  return fields.flatMap(({ name, annotations }) =>
    Object.hasOwn(objectOf(annotations), 'id') ? [String(name)] : [],
  )
}

/** Writes dataset.yaml of a new dataset. Throws ConfigInvalid for an unusable offer. */
export function createDefinition(
  portal: string,
  id: string,
  offered: OfferedDataset,
  harvester: Harvester,
): void {
  const identity = identityOf(offered.fields ?? [])
  const definition = {
    source: sourceOf(offered, harvester),
    refresh: harvester.refresh,
    ...(offered.format === undefined ? {} : { format: offered.format }),
    ...(offered.fields === undefined ? {} : { fields: offered.fields }),
    ...(identity.length === 0 ? {} : { id: identity }),
    metas: metasOf(offered, harvester),
    // Data that need credentials there are restricted here, unless configured otherwise.
    visibility: harvester.visibility ?? (harvester.authorization === undefined ? 'public' : 'restricted'),
    harvest: { by: harvester.id, dataset: offered.id },
  }
  const head = `# Harvested by ${harvester.id}: what changes in its catalog is changed here, all else stays as it is edited.\n`
  const text = `${head}${stringify(definition, { lineWidth: 0 })}`
  const file = path.join(portal, 'data', id, 'dataset.yaml')
  trusted(readDocument(text, file, DATASET_SCHEMA))
  // One that was gone may be back, and its address may take a while to answer.
  readmit(versionsOf(portal), id)
  mkdirSync(path.dirname(file), { recursive: true })
  replaceDurably(file, text)
}

/** Applies the changes of the catalog to dataset.yaml; false if there were none. Throws ConfigInvalid. */
export function updateDefinition(
  portal: string,
  id: string,
  offered: OfferedDataset,
  harvester: Harvester,
  before: HarvestedState | undefined,
): boolean {
  const now = stateOf(offered, harvester)
  const file = path.join(portal, 'data', id, 'dataset.yaml')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const change: DefinitionChange = {
    ...(now.source === before?.source
      ? {}
      : { source: sourceOf(offered, harvester), refresh: harvester.refresh, format: offered.format ?? null }),
    ...(now.fields === before?.fields || offered.fields === undefined
      ? {}
      : changedFields(offered.fields, text, before)),
    ...(now.metas === before?.metas ? {} : { metas: changedMetas(metasOf(offered, harvester), before) }),
  }
  if (Object.keys(change).length === 0) return false
  const changed = changedDefinition(text, change)
  if (changed === text) return false
  replaceDurably(file, changed)
  return true
}

/**
 * Fields with the members that the catalog changed, null for those that it removed; those that were declared here alone stay,
 * after the others. An identity that has lost a field is replaced by that of the catalog.
 */
function changedFields(
  fields: readonly OfferedField[],
  text: string,
  before: HarvestedState | undefined,
): Pick<DefinitionChange, 'fields' | 'id'> {
  const parts = before?.parts
  const document = parseDocument(text)
  const list = document.get('fields')
  const declared = isSeq(list)
    ? list.items.flatMap(item => (isMap(item) ? [String(item.get('name'))] : []))
    : []
  const own = declared.filter(
    name =>
      parts !== undefined &&
      !Object.hasOwn(parts, fieldKey(name, 'name')) &&
      fields.every(field => field.name !== name),
  )
  const edits = fields.map(field => {
    const members = Object.entries(field).filter(
      ([member, value]) =>
        !declared.includes(String(field.name)) ||
        lookup(parts ?? {}, fieldKey(field.name, member)) !== digest(value),
    )
    return { ...Object.fromEntries(members), ...removed(field, members, parts), name: String(field.name) }
  })
  const all = [...edits, ...own.map(name => ({ name }))]
  const identity = document.get('id')
  const isWhole =
    !isSeq(identity) || identity.toJSON().every((id: unknown) => all.some(({ name }) => name === id))
  if (isWhole) return { fields: all }
  const found = identityOf(fields)
  return { fields: all, id: found.length === 0 ? null : found }
}

/** The members and annotations that a field had in the catalog and has no more, as null. */
function removed(
  field: OfferedField,
  changed: readonly (readonly [string, unknown])[],
  parts: HarvestedState['parts'] = {},
): Readonly<Record<string, unknown>> {
  const start = fieldKey(field.name, '')
  const here = [...Object.keys(field), ...annotationsOf(field).map(([member]) => member), 'annotations']
  const gone = Object.keys(parts)
    .flatMap(key => (key.startsWith(start) ? [key.slice(start.length)] : []))
    .filter(member => !here.includes(member))
  const nulls = (members: readonly string[]) => Object.fromEntries(members.map(member => [member, null]))
  const annotations = gone.filter(member => member.startsWith(ANNOTATION))
  return {
    ...nulls(gone.filter(member => !annotations.includes(member))),
    ...(annotations.length === 0
      ? {}
      : {
          annotations: {
            ...objectOf(changed.find(([member]) => member === 'annotations')?.[1]),
            ...nulls(annotations.map(member => member.slice(ANNOTATION.length))),
          },
        }),
  }
}

/** The metadata that the catalog changed; null for those that it removed. */
function changedMetas(
  metas: OfferedDataset['metas'],
  before: HarvestedState | undefined,
): NonNullable<DefinitionChange['metas']> {
  const result: Record<string, Record<string, MetaValue | null>> = {}
  const change = (template: string, name: string, value: MetaValue | null) => {
    const members = lookup(result, template) ?? {}
    setMember(result, template, members)
    setMember(members, name, value)
  }
  for (const [template, members] of Object.entries(metas))
    for (const [name, value] of Object.entries(members))
      if (lookup(before?.parts ?? {}, metaKey(template, name)) !== digest(value))
        change(template, name, value)
  for (const key of before?.names ?? []) {
    const [template, name] = [key.slice(0, key.indexOf('.')), key.slice(key.indexOf('.') + 1)]
    if (lookup(lookup(metas, template) ?? {}, name) === undefined) change(template, name, null)
  }
  return result
}
