import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { lookup } from '../model/lookup.ts'
import { replaceDurably } from '../publishing/versions/durable.ts'
import { HARVEST_FILE, harvestersIn } from './settings.ts'

/** An error of an entry, and the member that it is shown next to; null for the entry as a whole. */
export interface HarvesterProblem {
  readonly index: number
  readonly member: string | null
  readonly message: string
}

/**
 * Writes harvest.yaml with changed harvesters, in one step: comments and other members of existing entries are preserved. If
 * there are errors, returns them and writes nothing.
 *
 * @param harvesters all of them, by their members in the file
 * @param members those that are edited: one that an entry lacks is removed
 */
export function changeHarvesters(
  portal: string,
  harvesters: readonly Readonly<Record<string, unknown>>[],
  members: readonly string[],
): readonly HarvesterProblem[] {
  const file = path.join(portal, HARVEST_FILE)
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const text = changedText(before, harvesters, members)
  const { problems, placeOf } = harvestersIn(text, HARVEST_FILE)
  if (problems.length === 0) {
    replaceDurably(file, text)
    return []
  }
  return problems.map(({ message, place }) => {
    const index = harvesters.findLastIndex(
      (_, at) => (placeOf(['harvesters', String(at)]).line ?? 0) <= (place.line ?? 0),
    )
    const member = members.find(name => {
      const found = placeOf(['harvesters', String(Math.max(0, index)), name])
      return found.line === place.line && found.column === place.column
    })
    return {
      index: Math.max(0, index),
      member: member ?? null,
      message: `${HARVEST_FILE}:${place.line ?? 1}:${place.column ?? 1}: ${message}`,
    }
  })
}

function changedText(
  before: string,
  harvesters: readonly Readonly<Record<string, unknown>>[],
  members: readonly string[],
): string {
  const document = before.trim() === '' ? new Document({ harvesters: [] }) : parseDocument(before)
  const found = document.get('harvesters', true)
  const list = (isSeq(found) ? found : document.createNode([])) as YAMLSeq
  const known = new Map(list.items.flatMap(item => (isMap(item) ? [[String(item.get('id')), item]] : [])))
  list.items = harvesters.map(given => {
    const node = (known.get(String(given.id)) ?? document.createNode({})) as YAMLMap
    for (const name of members) {
      const value = lookup(given, name)
      if (value === undefined) node.delete(name)
      else if (JSON.stringify(node.get(name)) !== JSON.stringify(value))
        node.set(name, document.createNode(value))
    }
    return node
  })
  list.flow = false
  if (!isSeq(found)) document.set('harvesters', list)
  return document.toString({ lineWidth: 0 })
}
