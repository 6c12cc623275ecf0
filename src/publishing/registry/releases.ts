import { createHash } from 'node:crypto'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import { inGraph, iri, literal, select, triple, variable } from '../../sparql/build.ts'
import type { Update, UpdateTriple } from '../../sparql/generate.ts'
import type { SharedStore } from '../../store/remote/remote.ts'

/** The state of a dataset in a shared store: the release with the highest number counts. */
export interface Release {
  readonly dataset: string
  readonly number: number
  /** null if the dataset was withdrawn. */
  readonly version: string | null
  /** How it was withdrawn; `forgotten` if its folder was removed, as if it had never existed. */
  readonly withdrawn: 'open' | 'secret' | 'forgotten' | null
}

/** A version with data in the store. */
export interface StoredVersion {
  readonly dataset: string
  readonly version: string
  readonly graphs: readonly string[]
  /** Expiry of the lease of the server that loads it, in milliseconds since 1970; 0 for none. */
  readonly lease: number
  /** When it was replaced; null while it is in force or being loaded. */
  readonly replaced: number | null
  /** The number of triples of each completely loaded graph. */
  readonly loaded: ReadonlyMap<string, number>
  /** The number of loaded pieces of each other graph. */
  readonly progress: ReadonlyMap<string, number>
  /** The triples that state all this. */
  readonly triples: readonly UpdateTriple[]
}

/** The complete state of the versions in a shared store. */
export interface RegistryState {
  readonly releases: ReadonlyMap<string, Release>
  readonly versions: readonly StoredVersion[]
  /** Releases that are no longer in force. */
  readonly outdated: readonly UpdateTriple[]
}

const VOCABULARY = 'urn:lodestone:registry#'
const RELEASE = `${VOCABULARY}release`
const GRAPH = `${VOCABULARY}graph`
const LEASE = `${VOCABULARY}lease`
const REPLACED = `${VOCABULARY}replaced`
const LOADED = `${VOCABULARY}loaded`
const PROGRESS = `${VOCABULARY}progress`
const PART = `${VOCABULARY}part`

/** Maximum characters of a manifest in one literal: engines refuse very long ones. */
const PART_LENGTH = 20_000
/** Literals of one update. */
const PARTS_AT_A_TIME = 20

/**
 * The state of the versions in a shared store, in a separate graph. A release is one triple, so that it takes effect in one step
 * on every engine: the release of a dataset with the highest number counts, and nothing is ever changed in place.
 */
export class Releases {
  readonly graph: string
  private readonly store: SharedStore

  /** @param base public address of the portal: several portals may share an engine */
  constructor(store: SharedStore, base: string) {
    const name = createHash('sha256').update(base).digest('hex').slice(0, 16)
    this.graph = `urn:lodestone:registry:${name}`
    this.store = store
  }

  /** The releases in force, by dataset: the one small query that every instance repeats. */
  async current(): Promise<ReadonlyMap<string, Release>> {
    return latest((await this.read(RELEASE)).map(readRelease)).releases
  }

  /** The complete state, for publishing and cleaning up. */
  async state(): Promise<RegistryState> {
    const predicates = [RELEASE, GRAPH, LEASE, REPLACED, LOADED, PROGRESS]
    const rows = (await Promise.all(predicates.map(each => this.read(each)))).flat()
    const releases = latest(rows.filter(({ predicate }) => predicate.value === RELEASE).map(readRelease))
    const versions = new Map<string, UpdateTriple[]>()
    for (const row of rows) {
      if (row.predicate.value === RELEASE) continue
      versions.set(row.subject.value, [...(versions.get(row.subject.value) ?? []), row])
    }
    return {
      releases: releases.releases,
      outdated: releases.outdated,
      versions: [...versions].map(([subject, triples]) => readVersion(subject, triples)),
    }
  }

  /** The document that was stored for a version; null if there is none. */
  async document(dataset: string, version: string): Promise<string | null> {
    const rows = await this.read(PART, versionIri(dataset, version))
    if (rows.length === 0) return null
    const parts = rows.map(({ object }) => object.value).sort()
    const [, count = ''] = /^\d+\/(\d+) /.exec(parts[0] ?? '') ?? []
    return Number(count) === parts.length
      ? parts.map(part => part.slice(part.indexOf(' ') + 1)).join('')
      : null
  }

  async keepDocument(dataset: string, version: string, text: string): Promise<void> {
    const count = Math.max(1, Math.ceil(text.length / PART_LENGTH))
    const parts = Array.from({ length: count }, (_, at) => {
      const part = text.slice(at * PART_LENGTH, (at + 1) * PART_LENGTH)
      return this.said(dataset, version, PART, `${String(at).padStart(6, '0')}/${count} ${part}`)
    })
    for (let done = 0; done < parts.length; done += PARTS_AT_A_TIME)
      await this.insert(parts.slice(done, done + PARTS_AT_A_TIME))
  }

  /** Puts a version in force, or withdraws the dataset. */
  async release({ dataset, number, version, withdrawn }: Release): Promise<void> {
    const text = `${String(number).padStart(12, '0')} ${version ?? `-${withdrawn}`}`
    await this.insert([{ subject: iri(datasetIri(dataset)), predicate: iri(RELEASE), object: literal(text) }])
  }

  /** Records a lease for loading a version; it replaces the previous one. */
  async lease(
    dataset: string,
    version: string,
    until: number,
    before: readonly UpdateTriple[],
  ): Promise<UpdateTriple> {
    const lease = this.said(dataset, version, LEASE, String(until))
    await this.insert([lease])
    await this.remove(before)
    return lease
  }

  graphsOf(dataset: string, version: string, graphs: readonly string[]): readonly UpdateTriple[] {
    return graphs.map(graph => ({
      subject: iri(versionIri(dataset, version)),
      predicate: iri(GRAPH),
      object: iri(graph),
    }))
  }

  loaded(dataset: string, version: string, graph: string, triples: number): UpdateTriple {
    return this.said(dataset, version, LOADED, JSON.stringify([graph, triples]))
  }

  progress(dataset: string, version: string, graph: string, pieces: number): UpdateTriple {
    return this.said(dataset, version, PROGRESS, `${pieces} ${graph}`)
  }

  replaced(dataset: string, version: string, since: number): UpdateTriple {
    return this.said(dataset, version, REPLACED, String(since))
  }

  async insert(triples: readonly UpdateTriple[]): Promise<void> {
    if (triples.length > 0) await this.change({ type: 'insert', graph: this.graph, triples })
  }

  async remove(triples: readonly UpdateTriple[]): Promise<void> {
    if (triples.length > 0) await this.change({ type: 'delete', graph: this.graph, triples })
  }

  /** Removes all triples about a version, including its document. */
  async forget({ dataset, version, triples }: StoredVersion): Promise<void> {
    const parts = await this.read(PART, versionIri(dataset, version))
    for (let done = 0; done < parts.length; done += PARTS_AT_A_TIME)
      await this.remove(parts.slice(done, done + PARTS_AT_A_TIME))
    await this.remove(triples)
  }

  private change(update: Update): Promise<void> {
    return this.store.change([update])
  }

  private said(dataset: string, version: string, predicate: string, text: string): UpdateTriple {
    return {
      subject: iri(versionIri(dataset, version)),
      predicate: iri(predicate),
      object: literal(text, XSD.string),
    }
  }

  private async read(
    predicate: string,
    subject?: string,
  ): Promise<readonly (UpdateTriple & { readonly predicate: Term })[]> {
    const [s, o] = [subject === undefined ? variable('subject') : iri(subject), variable('object')]
    const where = inGraph(this.graph, triple(s, iri(predicate), o))
    const rows = await this.store.read(select(s.type === 'variable' ? [s, o] : [o], where))
    return rows.flatMap(row => {
      const found = s.type === 'variable' ? row.subject : s
      if (found === undefined || row.object === undefined) return []
      return [{ subject: found, predicate: iri(predicate), object: row.object }]
    })
  }
}

const datasetIri = (dataset: string) => `urn:lodestone:dataset:${dataset}`
const versionIri = (dataset: string, version: string) => `urn:lodestone:version:${dataset}:${version}`

function readRelease(said: UpdateTriple): { readonly release: Release; readonly said: UpdateTriple } {
  const [number = '', state = ''] = said.object.value.split(' ')
  const isWithdrawn = state.startsWith('-')
  const release: Release = {
    dataset: said.subject.value.slice(datasetIri('').length),
    number: Number(number),
    version: isWithdrawn ? null : state,
    withdrawn: isWithdrawn ? (state.slice(1) as NonNullable<Release['withdrawn']>) : null,
  }
  return { release, said }
}

/** Of two releases with the same number the one with the later name counts, the same for all instances. */
function latest(all: readonly { readonly release: Release; readonly said: UpdateTriple }[]) {
  const inForce = new Map<string, { readonly release: Release; readonly said: UpdateTriple }>()
  const outdated: UpdateTriple[] = []
  for (const each of all) {
    const { dataset } = each.release
    const known = inForce.get(dataset)
    const isLater = known === undefined || each.said.object.value > known.said.object.value
    if (isLater) inForce.set(dataset, each)
    if (isLater && known !== undefined) outdated.push(known.said)
    if (!isLater) outdated.push(each.said)
  }
  return { releases: new Map([...inForce].map(([id, { release }]) => [id, release])), outdated }
}

function readVersion(subject: string, triples: readonly UpdateTriple[]): StoredVersion {
  const name = subject.slice('urn:lodestone:version:'.length)
  const values = (predicate: string) =>
    triples.filter(each => each.predicate.value === predicate).map(({ object }) => object.value)
  const replaced = values(REPLACED).map(Number)
  const progress = new Map<string, number>()
  for (const text of values(PROGRESS)) {
    const [pieces = '', graph = ''] = text.split(' ')
    progress.set(graph, Math.max(Number(pieces), progress.get(graph) ?? 0))
  }
  return {
    dataset: name.slice(0, name.indexOf(':')),
    version: name.slice(name.indexOf(':') + 1),
    graphs: values(GRAPH),
    lease: Math.max(0, ...values(LEASE).map(Number)),
    // An earlier triple may remain if an engine lost the update that removed it.
    replaced: replaced.length === 0 ? null : Math.max(...replaced),
    loaded: new Map(
      values(LOADED).map(text => {
        const [graph, count] = JSON.parse(text) as [string, number]
        return [graph, count]
      }),
    ),
    progress,
    triples,
  }
}
