import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { currentManifest, graphPath, versionsOf } from '../../src/publishing/versions/versions.ts'
import { FLAGS } from './script.ts'

/** A portal whose records all carry one generation, to be killed while it publishes another. */
export const CRASH_DATASETS = ['first', 'second'] as const
export const CRASH_RECORDS = 3000

/** Puts files of one generation in the place of those before. */
export function writeGeneration(portal: string, generation: string): void {
  writeFileSync(path.join(portal, 'portal.yaml'), 'title: Crash\n')
  for (const id of CRASH_DATASETS) {
    const folder = path.join(portal, 'data', id)
    mkdirSync(folder, { recursive: true })
    const rows = Array.from(
      { length: CRASH_RECORDS },
      (_, at) => `${at},${generation},text ${at % 97} of ${id}\n`,
    )
    writeFileSync(path.join(folder, 'new.tmp'), `id,generation,text\n${rows.join('')}`)
    renameSync(path.join(folder, 'new.tmp'), path.join(folder, 'records.csv'))
    writeFileSync(path.join(folder, 'dataset.yaml'), 'source: { path: records.csv }\nid: [id]\n')
  }
}

/** The generation that a dataset is published in, from its files alone: throws where it is not wholly one. */
export function publishedGeneration(portal: string, id: string): string {
  const versions = versionsOf(portal)
  const manifest = currentManifest(versions, id)
  if (manifest === null) throw new Error(`${id} has no version that can be read`)
  for (const { file, triples } of manifest.graphs) {
    const text = gunzipSync(readFileSync(graphPath(versions, manifest, file))).toString()
    const lines = text.split('\n').length - 1
    if (lines !== triples) throw new Error(`${id}: ${file} has ${lines} triples, ${triples} are expected`)
    if (file !== 'facts.nt.gz') continue
    const found = [...text.matchAll(/ontologies\/[^/]+\/generation> "([^"]*)"/g)].map(([, name]) => name)
    const [generation = ''] = new Set(found)
    if (
      found.length !== CRASH_RECORDS ||
      new Set(found).size !== 1 ||
      manifest.statistics.records !== found.length
    )
      throw new Error(`${id}: ${found.length} records of the generations ${[...new Set(found)].join(', ')}`)
    return generation
  }
  throw new Error(`${id} has no facts`)
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly milliseconds: number
}

/** The program of the command line. */
export const BINARY = path.resolve(import.meta.dirname, '../../bin/lodestone.js')

/**
 * The command line as a process of its own, without settings of the environment it is tested in.
 *
 * @param environment settings; `OPEN_FILES` limits the files that the process may have open
 * @param folder the current folder of the process
 */
export function spawnLodestone(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  folder = process.cwd(),
) {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('LODESTONE_'))
  const { OPEN_FILES: files, ...more } = environment
  const command = [...FLAGS, BINARY, ...args]
  const limited = ['-c', `ulimit -n ${files} && exec "$0" "$@"`, process.execPath, ...command]
  return spawn(files === undefined ? process.execPath : '/bin/sh', files === undefined ? command : limited, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(clean), ...more },
  })
}

/** Runs it to its end, or kills it with SIGKILL after a time. */
export function lodestone(
  args: readonly string[],
  options: {
    readonly killAfter?: number
    readonly environment?: NodeJS.ProcessEnv
    readonly folder?: string
  } = {},
): Promise<Ended> {
  const begun = performance.now()
  const child = spawnLodestone(args, options.environment, options.folder)
  const timer =
    options.killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), options.killAfter)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', piece => {
    stdout += String(piece)
  })
  child.stderr.on('data', piece => {
    stderr += String(piece)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ code, signal, stdout, stderr, milliseconds: performance.now() - begun })
    })
  })
}
