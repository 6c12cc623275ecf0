import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { gzipSync } from 'node:zlib'
import { Fault } from '../../errors/errors.ts'
import { termText } from '../../rdf/ntriples.ts'
import { parseTriples, type Triple } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import { PROCESS_NAME } from '../../runtime/processes.ts'
import { generate } from '../../sparql/generate.ts'
import { buildColumnsInThread } from '../columns/build/build-thread.ts'
import { numberForm, numberOfLexical } from '../columns/lexical.ts'
import { LOAD_REFUSED } from '../faults.ts'
import type { RemoteEngine } from './engine.ts'
import { exactDoubles } from './exact-doubles.ts'
import { readJsonSolutions } from './results.ts'
import { decodeTerm, type StoredForms } from './value-roundtrip.ts'

/** A graph whose columns are rebuilt from the triples in an engine. */
export interface RebuiltGraph {
  readonly graph: string
  /** File of the columns. */
  readonly columns: string
  readonly isSearched: boolean
  /** Number of triples in the engine; null where it is unknown. */
  readonly stored: number | null
}

/** Characters that are compressed at a time: other requests are answered between two chunks. */
const PIECE = 2 ** 20

/**
 * Rebuilds the columns of a graph from its triples in an engine, in the order in which the engine returns them: the order of
 * records and of several values of a field, which triples lack, is not source order. Faults: LoadRefused where the engine does
 * not have as many triples as were loaded; StoreUnavailable, DeadlineExceeded.
 */
export async function rebuildColumns(
  engine: RemoteEngine,
  forms: StoredForms,
  { graph, columns, isSearched, stored }: RebuiltGraph,
): Promise<void> {
  mkdirSync(path.dirname(columns), { recursive: true })
  const file = `${columns}.${PROCESS_NAME}.nt.gz`
  try {
    const triples = await exportTriples(engine, forms, graph, file)
    if (stored !== null && triples !== stored)
      throw new Fault(LOAD_REFUSED, { reason: `the engine has ${triples} of ${stored} triples of ${graph}` })
    await buildColumnsInThread({ triples: file, columns, isSearched })
  } finally {
    rmSync(file, { force: true })
  }
}

async function exportTriples(
  engine: RemoteEngine,
  { rounded }: StoredForms,
  graph: string,
  file: string,
): Promise<number> {
  const doubles = rounded.length === 0 ? null : exactDoubles(engine.addresses.kind)
  const writer = new TripleFile(file)
  try {
    const decoder = new StringDecoder('utf8')
    let rest = ''
    const take = (text: string) => {
      for (const triple of parseTriples(text))
        if (doubles === null || !(triple.object.type === 'literal' && triple.object.datatype === XSD.double))
          writer.add(triple)
    }
    await engine.export(graph, piece => {
      const text = rest + decoder.write(piece)
      const end = text.lastIndexOf('\n') + 1
      rest = text.slice(end)
      take(text.slice(0, end))
    })
    take(rest + decoder.end())
    if (doubles !== null) await addDoubles(engine, generate(doubles(graph)), writer)
    return writer.triples
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError)
      throw new Fault(
        LOAD_REFUSED,
        { reason: `the triples of ${graph} cannot be read: ${error.message}` },
        { cause: error },
      )
    throw error
  } finally {
    writer.close()
  }
}

async function addDoubles(engine: RemoteEngine, text: string, writer: TripleFile): Promise<void> {
  for (const { subject, predicate, value } of readJsonSolutions(
    await engine.query({ text, format: 'json', deadline: EXACT_DEADLINE }),
  ))
    if (
      (subject?.type === 'iri' || subject?.type === 'blank') &&
      predicate?.type === 'iri' &&
      value?.type === 'literal'
    )
      writer.add({ subject, predicate, object: { ...value, datatype: XSD.double } })
}

const EXACT_DEADLINE = 600_000

/** A compressed file of N-Triples, from which columns are built. */
class TripleFile {
  triples = 0
  private readonly file: number
  private text = ''

  constructor(path: string) {
    this.file = openSync(path, 'w')
  }

  add({ subject, predicate, object }: Triple): void {
    this.triples += 1
    this.text += `${termText(subject)} ${termText(predicate)} ${termText(canonicalDouble(decodeTerm(object)))} .\n`
    if (this.text.length >= PIECE) this.flush()
  }

  close(): void {
    this.flush()
    closeSync(this.file)
  }

  private flush(): void {
    writeSync(this.file, gzipSync(this.text, { level: 1 }))
    this.text = ''
  }
}

/** Engines write doubles in various forms; published files have one. */
function canonicalDouble(term: Term): Term {
  if (term.type !== 'literal' || term.datatype !== XSD.double) return term
  const number = numberOfLexical(term.value.trim(), 'double')
  return number === null ? term : { ...term, value: numberForm(number) }
}
