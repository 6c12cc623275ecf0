import { createHash } from 'node:crypto'
import { Fault } from '../../errors.ts'
import { XSD } from '../../rdf/vocab.ts'
import { generate } from '../../sparql/generate.ts'
import type { Store } from '../store.ts'
import type { EngineKind } from './addresses.ts'
import { EngineDialect } from './dialect.ts'
import type { Engine } from './engine.ts'
import { featureKey } from './features.ts'
import { isSameAnswer, type Probe, probes, probeTriples, probeType } from './probes.ts'

/** What was found out about an engine. */
export interface ProbedCapabilities {
  /** Features (features.ts) that it answers otherwise than the embedded store, or not at all, each with the first reason. */
  readonly deviations: ReadonlyMap<string, string>
  /** Probes that were asked. */
  readonly probes: number
}

/** Where it is kept what was found out, as text. */
export interface EngineMemory {
  readonly read: () => string | null
  readonly write: (text: string) => void
}

/** What no small probe shows, by engine: features and why they are not asked for. */
const KNOWN: Readonly<Record<EngineKind, readonly (readonly [string, string])[]>> = {
  oxigraph: [],
  fuseki: [],
  virtuoso: [
    ['compare of two types any', 'integers compared with a double are taken for larger than it (7.2.5)'],
    ['order of groups any', 'with two keys, or absent ones, groups come in another order (7.2.5)'],
    ['rows any', 'a count of distinct rows over a union counts some twice (7.2.5)'],
  ],
  other: [],
}

/** What is known of an engine: found out once for each version of it and of the probes. */
export async function knownCapabilities(
  engine: Engine,
  open: () => Promise<Store>,
  graph: string,
  memory: EngineMemory | undefined,
): Promise<ProbedCapabilities> {
  const { kind, version, query } = engine.addresses
  const asked = JSON.stringify([probes('urn:lodestone:probe'), probeTriples(), KNOWN])
  const digest = createHash('sha256').update(asked)
  const name = `${kind} ${version} ${query.href} ${digest.digest('hex').slice(0, 16)}`
  const kept = readKept(memory?.read() ?? null, name)
  if (kept !== null) return kept
  const reference = await open()
  try {
    const found = await probeEngine(engine, reference, graph)
    refuseUnusable(found, query.href)
    const probed = { ...found, deviations: new Map([...KNOWN[kind], ...found.deviations]) }
    memory?.write(JSON.stringify({ name, ...probed, deviations: [...probed.deviations] }))
    return probed
  } finally {
    await reference.close()
  }
}

/** What every engine must do: keep texts and integers, find them, and put patterns together. */
const ESSENTIAL = [
  ...['stored', 'equal'].flatMap(name => [`${name} ${XSD.string}`, `${name} ${XSD.integer}`]),
  'patterns any',
]

function refuseUnusable({ deviations }: ProbedCapabilities, address: string): void {
  const lacking = ESSENTIAL.find(feature => deviations.has(feature))
  if (lacking === undefined) return
  const reason = `store: the engine at ${address} does not do what SPARQL 1.1 asks for (${lacking}): ${deviations.get(lacking)?.slice(0, 600)}`
  throw new Fault('ConfigInvalid', { reason })
}

function readKept(text: string | null, name: string): ProbedCapabilities | null {
  if (text === null) return null
  try {
    const kept = JSON.parse(text) as {
      readonly name: string
      readonly probes: number
      readonly deviations: readonly (readonly [string, string])[]
    }
    return kept.name === name ? { probes: kept.probes, deviations: new Map(kept.deviations) } : null
  } catch {
    return null
  }
}

/** Probes that are asked at a time. */
const AT_ONCE = 4
const DEADLINE = 10_000

/**
 * Tries what queries may ask of an engine: each probe is asked of the engine and of the embedded store, over the same
 * triples, and the answers must be the same.
 *
 * @param reference an embedded store; what is loaded into it is dropped again
 * @param graph name of a graph that nobody else uses
 */
export async function probeEngine(
  engine: Engine,
  reference: Store,
  graph: string,
): Promise<ProbedCapabilities> {
  const text = probeTriples()
  const deviations = new Map<string, string>()
  const all = probes(graph)
  const dialect = new EngineDialect(engine)
  await engine.add(graph, Buffer.from(text))
  await reference.load([{ graph, text }])
  try {
    const waiting = [...all]
    const work = async () => {
      for (let probe = waiting.shift(); probe !== undefined; probe = waiting.shift()) {
        const key = featureKey(probe.feature)
        if (deviations.has(key)) continue
        const reason = await deviation(probe, dialect, reference)
        if (reason !== null) deviations.set(key, reason)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  } finally {
    await reference.drop([graph])
    await engine.change([{ type: 'drop', graph }])
  }
  return { deviations, probes: all.length }
}

/** Why an answer is not what it should be; null where it is. */
async function deviation(
  { query, isOrdered = false }: Probe,
  dialect: EngineDialect,
  reference: Store,
): Promise<string | null> {
  const text = generate(query)
  const wanted = await reference.select(query)
  try {
    const found = await dialect.ask(query, probeType, DEADLINE)
    if (isSameAnswer(found, wanted, isOrdered)) return null
    return `${text}\n  gives ${JSON.stringify(found).slice(0, 3000)}\n  for ${JSON.stringify(wanted).slice(0, 3000)}`
  } catch (error) {
    return `${text}\n  is refused: ${(error as Error).message.slice(0, 300)}`
  }
}
