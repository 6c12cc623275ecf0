import { rmSync } from 'node:fs'
import path from 'node:path'
import type { DatasetRecord } from '../model/value.ts'
import { openColumns } from '../store/columns/graph.ts'
import { RecordReader, type RecordsOf } from '../store/record-reader.ts'
import { writeMappedGraphs } from './graphs/mapped-graphs.ts'
import type { ChosenMapping, MappingRefusal, UsableMapping } from './mapping/mapping-file.ts'
import type { PublishAttempt, PublishContext, PublishReport, PublishResult } from './publish-types.ts'
import { fingerprintOf } from './source-digest.ts'
import type { Digests } from './up-to-date.ts'
import { shareFile } from './versions/durable.ts'
import { RECORD_IDS_FILE } from './versions/tombstones.ts'
import {
  commitVersion,
  type GraphFile,
  prepareVersion,
  sharedGraph,
  VERSION_FORMAT,
  type VersionManifest,
  type Versions,
  versionFolder,
} from './versions/versions.ts'

/** The first members of every manifest, and the folder of the version. */
export interface Head
  extends Pick<
    VersionManifest,
    'format' | 'version' | 'fingerprint' | 'definition' | 'source' | 'base' | 'published'
  > {}

interface Preparation extends Head {
  readonly folder: string
  readonly begun: Date
}

type Prepared =
  | {
      readonly manifest: VersionManifest
      readonly refusal: MappingRefusal | null
      readonly report: PublishReport
    }
  | { readonly manifest: null; readonly current: VersionManifest; readonly refusal: MappingRefusal }

/**
 * Writes a version and puts it in force; a version that fails, or is not to be released, leaves no files. Resolves to null if
 * another one was put in force meanwhile, or nothing was made.
 */
export async function writeVersion(
  id: string,
  { definition, source }: Digests,
  mapping: string | null,
  { base, versions, now, replaced }: PublishAttempt,
  make: (preparation: Preparation) => Promise<Prepared | null>,
): Promise<PublishResult | null> {
  const begun = now()
  const fingerprint = fingerprintOf(definition, source, mapping)
  const version = `${begun.getTime().toString(36)}-${fingerprint.slice(0, 12)}`
  const folder = prepareVersion(versions, id, version)
  const published = begun.toISOString().replace('Z', '+00:00')
  const head = { format: VERSION_FORMAT, version, fingerprint, definition, source, base, published }
  try {
    const built = await make({ ...head, folder, begun })
    const manifest =
      built === null || built.manifest === null
        ? null
        : await commitVersion(versions, built.manifest, replaced)
    if (built !== null && built.manifest !== null && manifest !== null)
      return { type: 'published', ...built, manifest }
    rmSync(folder, { recursive: true, force: true })
    if (built === null || built.manifest !== null) return null
    return { type: 'unchanged', manifest: built.current, refusal: built.refusal }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Adds the result of a mapping of the records whose facts are written. */
export async function addMapping(
  part: Omit<VersionManifest, 'mapping' | keyof Head>,
  { folder, begun, ...head }: Preparation,
  { mapping, diagnostics }: ChosenMapping,
  context: PublishContext,
) {
  const { id, fields } = part.dataset
  const facts = part.graphs.find(({ role }) => role === 'facts')?.columns ?? ''
  const records = () => publishedRecords(path.join(folder, facts), { base: head.base, dataset: part.dataset })
  const built =
    mapping === null
      ? null
      : await writeMappedGraphs(
          mapping.mapping,
          { base: head.base, dataset: id, fields, folder, statistics: part.statistics },
          records,
          done => context.onProgress?.({ dataset: id, records: done }),
        )
  const graphs: readonly GraphFile[] = [...part.graphs, ...(built?.graphs ?? [])]
  const used = mapping === null || built === null ? null : { ...usableOf(mapping), rules: built.rules }
  const manifest: VersionManifest = { ...part, ...head, graphs, mapping: used }
  const report = {
    records: part.statistics.records,
    triples: (built?.graphs ?? part.graphs)[0]?.triples ?? 0,
    mapping: used === null ? null : { file: used.file, rules: used.rules, diagnostics },
    milliseconds: context.now().getTime() - begun.getTime(),
  }
  return { manifest, report }
}

/** The graphs of the records of a version for use in another version: their files stay where they are. */
export function retainedGraphs(
  current: VersionManifest,
  folder: string,
  versions: Versions,
): readonly GraphFile[] {
  const home = versionFolder(versions, current.dataset.id, current.version)
  shareFile(path.join(home, RECORD_IDS_FILE), path.join(folder, RECORD_IDS_FILE))
  return current.graphs
    .filter(({ role }) => role === 'facts')
    .map(graph => sharedGraph(graph, current.version))
}

function usableOf({ file, text, mapping }: UsableMapping): UsableMapping {
  return { file, text, mapping }
}

/** Records of a piece. */
const PIECE = 1000

/**
 * The records of a published version in order, read from the columns of its facts, in bounded pieces: everything that is derived
 * from records can be rebuilt from them, without the source.
 */
export async function* publishedRecords(
  columns: string,
  of: RecordsOf,
): AsyncGenerator<readonly DatasetRecord[]> {
  const reader = new RecordReader(openColumns(columns), of)
  for (let first = 0; first < reader.count; first += PIECE) {
    const length = Math.min(PIECE, reader.count - first)
    yield Array.from({ length }, (_, index) => reader.record(first + index))
  }
}
