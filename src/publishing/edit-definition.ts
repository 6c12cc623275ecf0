import { type Document, isMap, isScalar, isSeq, type YAMLMap, type YAMLSeq } from 'yaml'
import { readDocument, trusted } from '../config/document.ts'
import { editedDocument, replaceScalar } from '../config/edited-document.ts'
import type { MetaValue } from '../model/metadata.ts'
import { DATASET_SCHEMA } from './definition-schema.ts'

/** A change of dataset.yaml: what is not named stays, null removes a member. */
export interface DefinitionChange {
  readonly source?: Readonly<Record<string, string>>
  readonly refresh?: string | null
  readonly format?: string | null
  readonly options?: Readonly<Record<string, unknown>> | null
  /** Steps between source and fields, complete and in order. */
  readonly processors?: readonly Readonly<Record<string, unknown>>[] | null
  /** Fields in order. */
  readonly fields?: readonly FieldEdit[] | null | undefined
  readonly id?: readonly string[] | null
  /** By template and name. */
  readonly metas?: Readonly<Record<string, Readonly<Record<string, MetaValue | null>>>>
  readonly visibility?: 'public' | 'restricted'
}

/** A field by name, with its changes. */
export interface FieldEdit {
  readonly name: string
  readonly [member: string]: unknown
}

/**
 * The text of a dataset.yaml with changes: comments, order and everything unchanged stay as they were written. Throws
 * ConfigInvalid with line and column if the text is no YAML, or the result no valid dataset.yaml.
 */
export function changedDefinition(text: string, change: DefinitionChange): string {
  const changed = editedDocument(text, 'dataset.yaml', document => changeDocument(document, change))
  trusted(readDocument(changed, 'dataset.yaml', DATASET_SCHEMA))
  return changed
}

function changeDocument(document: Document, change: DefinitionChange): void {
  const root = mapOf(document, [])
  for (const key of ['source', 'refresh', 'format', 'options', 'processors', 'id', 'visibility'] as const) {
    const value = change[key]
    if (value !== undefined) setMember(document, root, key, value)
  }
  if (change.fields !== undefined) changeFields(document, root, change.fields)
  for (const [template, members] of Object.entries(change.metas ?? {})) {
    const map = mapOf(document, ['metas', template])
    for (const [name, value] of Object.entries(members)) setMember(document, map, name, value)
  }
}

/** A map within a document, created where it is missing or empty. */
function mapOf(document: Document, path: readonly string[]): YAMLMap {
  let map = document.contents as YAMLMap
  if (!isMap(map)) {
    map = document.createNode({}) as YAMLMap
    document.contents = map
  }
  for (const name of path) {
    const found = map.get(name, true)
    if (!isMap(found)) map.set(name, document.createNode({}))
    map = map.get(name, true) as unknown as YAMLMap
  }
  return map
}

/** An unchanged value stays as it is written. */
function setMember(document: Document, map: YAMLMap, name: string, value: unknown): void {
  if (value === null) {
    map.delete(name)
    return
  }
  const before = map.get(name, true)
  if (before !== undefined && JSON.stringify(plain(before)) === JSON.stringify(value)) return
  if (isScalar(before) && typeof value !== 'object') replaceScalar(before, value)
  else map.set(name, document.createNode(value))
}

function plain(node: unknown): unknown {
  return typeof node === 'object' && node !== null && 'toJSON' in node
    ? (node as { toJSON: () => unknown }).toJSON()
    : node
}

/** Annotations that are not named stay; null removes one. */
function changeAnnotations(document: Document, field: YAMLMap, given: unknown): void {
  const changes = Object.entries((given ?? {}) as Readonly<Record<string, unknown>>)
  const before = field.get('annotations', true)
  if (!isMap(before) && changes.every(([, value]) => value === null)) return
  const isNew = !isMap(before)
  const map = isNew ? (document.createNode({}) as YAMLMap) : (before as unknown as YAMLMap)
  for (const [name, value] of changes) setMember(document, map, name, value)
  if (map.items.length === 0) field.delete('annotations')
  else if (isNew) field.set('annotations', map)
}

/** Existing fields keep their nodes with the comments next to them. */
function changeFields(document: Document, root: YAMLMap, fields: readonly FieldEdit[] | null): void {
  if (fields === null) {
    root.delete('fields')
    return
  }
  const before = root.get('fields', true)
  const list = (isSeq(before) ? before : document.createNode([])) as YAMLSeq
  const known = new Map(list.items.flatMap(item => (isMap(item) ? [[String(item.get('name')), item]] : [])))
  list.items = fields.map(field => {
    const node = (known.get(field.name) ?? document.createNode({ name: field.name })) as YAMLMap
    for (const [member, value] of Object.entries(field))
      if (member === 'annotations') changeAnnotations(document, node, value)
      else if (member !== 'name' && value !== undefined) setMember(document, node, member, value)
    if (!known.has(field.name)) node.flow = true
    return node
  })
  if (!isSeq(before)) root.set('fields', list)
}
