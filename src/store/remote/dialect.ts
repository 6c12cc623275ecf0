import { lookup, setMember } from '../../model/lookup.ts'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { Expression, SelectQuery } from '../../sparql/algebra.ts'
import { generate } from '../../sparql/generate.ts'
import { walkQuery } from '../../sparql/walk.ts'
import type { Solution } from '../store.ts'
import { type Codec, codecOf, encodeQuery, FAITHFUL, isExceptionalConstant } from './codec.ts'
import { mergeDigits, withDigits } from './digits.ts'
import type { Engine } from './engine.ts'
import { ANY, featureKey, featuresOf, resultTypes, type TypeOf } from './features.ts'
import { readJsonSolutions } from './results.ts'
import { withDatatypes, withoutDaysUntil, withoutPropertyFunctions } from './rewrites.ts'

/** What is known of the data of an engine, and grows with what is published. */
export interface DataKnowledge {
  /** The datatype of the values of a predicate. */
  readonly typeOf: TypeOf
  /** Whether a predicate of a graph has values that are no plain literals (plain.ts). */
  readonly isExceptional: (graph: string, predicate: string) => boolean
}

/**
 * How Lodestone speaks to one engine: which queries it can be asked, how terms are kept in it, and how its answers are read.
 */
export class EngineDialect {
  readonly codec: Codec
  readonly #engine: Engine
  readonly #deviations: ReadonlyMap<string, string>
  readonly #deviating: ReadonlySet<string>
  readonly #writesSixDigits: boolean
  readonly #matchesByValue: boolean

  /** @param deviations by feature, those of the engine; none where it is not known yet */
  constructor(engine: Engine, deviations: ReadonlyMap<string, string> = new Map()) {
    const { kind } = engine.addresses
    this.#engine = engine
    this.#deviations = deviations
    this.#deviating = new Set([...deviations.keys()].map(key => key.slice(0, key.lastIndexOf(' '))))
    this.#writesSixDigits = kind === 'virtuoso'
    this.#matchesByValue = kind === 'virtuoso'
    const changed = [...deviations.keys()].flatMap(key => /^(?:stored|equal) (.*)$/.exec(key)?.[1] ?? [])
    this.codec =
      kind === 'oxigraph' ? FAITHFUL : codecOf(new Set(changed), kind !== 'virtuoso' && changed.length === 0)
  }

  /** Asks the engine a query; it must be one that {@link isExact}. */
  async ask(
    query: SelectQuery,
    typeOf: TypeOf,
    deadline: number = this.#engine.deadline,
  ): Promise<readonly Solution[]> {
    const stored = encodeQuery(query, this.codec)
    const encoded = this.#adapted(stored, typeOf)
    const text = generate(this.#writesSixDigits ? withAllDigits(encoded, typeOf) : encoded)
    const answer = await this.#engine.query({ text, format: 'json', deadline })
    const rows = readJsonSolutions(answer)
    const whole = this.#writesSixDigits ? mergeDigits(rows) : rows
    return this.codec === FAITHFUL ? whole : whole.map(row => this.#decoded(row))
  }

  /** Asks a query that is text already; of doubles it gives the digits that the engine writes. */
  async askText(text: string, deadline: number = this.#engine.deadline): Promise<readonly Solution[]> {
    const rows = readJsonSolutions(await this.#engine.query({ text, format: 'json', deadline }))
    return this.codec === FAITHFUL ? rows : rows.map(row => this.#decoded(row))
  }

  #adapted(query: SelectQuery, typeOf: TypeOf): SelectQuery {
    if (this.#matchesByValue) return withoutDaysUntil(withDatatypes(query, typeOf))
    return this.#engine.addresses.kind === 'fuseki' ? withoutPropertyFunctions(query) : query
  }

  /** True for a query that the engine answers as the embedded store does. */
  isExact(query: SelectQuery, { typeOf, isExceptional }: DataKnowledge): boolean {
    if (this.#deviations.size === 0 && this.codec === FAITHFUL) return true
    const features = featuresOf(query, typeOf)
    for (const feature of features)
      if (
        feature.type === ANY ? this.#deviating.has(feature.name) : this.#deviations.has(featureKey(feature))
      )
        return false
    if (this.codec === FAITHFUL) return true
    const isComputed = features.some(({ name }) => name !== 'patterns')
    return !isComputed || !this.#readsExceptions(query, isExceptional)
  }

  #readsExceptions(query: SelectQuery, isExceptional: DataKnowledge['isExceptional']): boolean {
    let found = false
    const constants = (expressions: readonly Expression[]) => {
      for (const each of expressions) if (each.type === 'literal' && isExceptionalConstant(each)) found = true
    }
    walkQuery(query, {
      pattern: pattern => {
        if (pattern.type !== 'graph') return
        for (const each of pattern.patterns)
          if (each.type === 'triple' && each.predicate.type === 'iri')
            if (isExceptional(pattern.graph.value, each.predicate.value)) found = true
      },
      expression: expression => {
        if (expression.type === 'binary') constants([expression.left, expression.right])
        if (expression.type === 'oneOf') constants(expression.items)
        if (expression.type === 'builtin' || expression.type === 'function') constants(expression.arguments)
      },
    })
    return found
  }

  #decoded(row: Solution): Solution {
    const decoded: Record<string, Term> = {}
    for (const name in row) {
      const term = lookup(row, name)
      if (term !== undefined) setMember(decoded, name, this.codec.decode(term))
    }
    return decoded
  }
}

function withAllDigits(query: SelectQuery, typeOf: TypeOf): SelectQuery {
  const types = resultTypes(query, typeOf)
  return withDigits(query, ({ variable }) => {
    const type = types.get(variable.name) ?? ANY
    return type === XSD.double || type === ANY
  })
}
