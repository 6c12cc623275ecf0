import { statSync } from 'node:fs'
import path from 'node:path'
import type { Inspection } from '../../sources/inspect.ts'
import { readDefinition } from '../definition.ts'
import { inspectDataset } from './dataset-preview.ts'

type Options = Parameters<typeof inspectDataset>[2]

/** Maximum inspections that are remembered, and for how many milliseconds. */
const MAX_CACHED = 20
const LIFE = 10 * 60_000

/** Inspections of sources, each of which reads a whole file: one of the same file with the same options is done once. */
export class Inspections {
  private readonly now: () => number
  private readonly cached = new Map<
    string,
    { readonly at: number; readonly inspection: Promise<Inspection> }
  >()

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.now = now
  }

  /** See {@link inspectDataset}. */
  inspect(root: string, id: string, how: Options): Promise<Inspection> {
    const key = keyOf(root, id, how)
    if (key === null) return inspectDataset(root, id, how)
    const found = this.cached.get(key)
    if (found !== undefined && this.now() < found.at + LIFE) return found.inspection
    const inspection = inspectDataset(root, id, how)
    this.cached.delete(key)
    this.cached.set(key, { at: this.now(), inspection })
    const [oldest] = this.cached.keys()
    if (this.cached.size > MAX_CACHED && oldest !== undefined) this.cached.delete(oldest)
    inspection.catch(() => this.cached.delete(key))
    return inspection
  }
}

/** Identifies a file by place, size, time and inode, with the options of reading; null for what is no file of the dataset. */
function keyOf(root: string, id: string, how: Options): string | null {
  const { definition } = readDefinition(root, id)
  if (definition?.source.path === undefined) return null
  const file = path.join(definition.sourceFolder, definition.source.path)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return null
  return JSON.stringify([file, found.size, found.mtimeMs, found.ino, how])
}
