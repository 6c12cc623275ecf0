import { coarsePrecision, isTemporal } from '../../model/field.ts'
import type { SolutionPage } from '../../store/store.ts'
import { compileCount, compileFacet } from '../compile/records.ts'
import type { CompileTarget, Statement } from '../compile/target.ts'
import { conjunctionOrNull } from '../conditions.ts'
import { decodeCount, decodeFacet, type FacetCount } from '../decode.ts'
import {
  dateStep,
  type Facet,
  type FacetFilter,
  facetCondition,
  facetPaths,
  facetSteps,
  hasLevels,
  valueCondition,
} from '../facets.ts'
import type { Condition, Question } from '../plan.ts'
import type { Executor } from './executor.ts'

/** A value of a facet as the APIs report it (REST 2.3). */
export type FacetValue =
  | { readonly state: 'excluded'; readonly name: string; readonly value: string }
  | {
      readonly state: 'displayed' | 'refined'
      readonly name: string
      readonly count: number
      /** The whole path. */
      readonly value: string
      /** The next level, of a refined value that has one. */
      readonly facets?: readonly FacetValue[]
    }

/** What facets count: the records of a filter, refined and excluded by facets. */
export interface FacetQuestion {
  readonly filter: Condition | null
  readonly refined: readonly FacetFilter[]
  readonly excluded: readonly FacetFilter[]
  readonly timezone: string
}

/** Levels of dates: years, months and days. */
const DATE_DEPTH = { year: 1, month: 2, day: 3 } as const

function depthOf({ field }: Facet): number {
  return isTemporal(field.type) ? DATE_DEPTH[coarsePrecision(field) ?? 'day'] : Number.POSITIVE_INFINITY
}

/**
 * The values of a facet and how many records have each, with the next level below each refined value. The counts cover the
 * records that match the whole question; only the refinements of a disjunctive facet itself are ignored, so that other values of
 * it can be selected as well.
 */
export async function enumerateFacet(
  facet: Facet,
  requested: FacetQuestion,
  target: CompileTarget,
  executor: Executor,
): Promise<readonly FacetValue[]> {
  return (await enumerateFacets([facet], requested, target, executor))[0] ?? []
}

/** Like {@link enumerateFacet} for several facets, whose first levels are counted together. */
export async function enumerateFacets(
  facets: readonly Facet[],
  requested: FacetQuestion,
  target: CompileTarget,
  executor: Executor,
): Promise<readonly (readonly FacetValue[])[]> {
  const first = facets.map(facet => firstLevel(facet, requested, target))
  const pages = await executor.together(first.map(({ statement }) => statement))
  const described: (readonly FacetValue[])[] = []
  for (const [at, facet] of facets.entries()) {
    const { filter, paths } = first[at] as FirstLevel
    const page = pages[at] as SolutionPage
    const { timezone } = requested
    const found = await valuesOf(facet, [], filter, paths, page, { timezone, target, executor })
    described.push(withExcludedValues(facet, found, requested))
  }
  return described
}

interface FirstLevel {
  readonly filter: Condition | null
  /** Steps of the refined values of the facet. */
  readonly paths: readonly (readonly string[])[]
  readonly statement: Statement
}

function firstLevel(
  facet: Facet,
  { filter, refined, excluded, timezone }: FacetQuestion,
  target: CompileTarget,
): FirstLevel {
  const own = refined.filter(filter => filter.facet.field.name === facet.field.name)
  const chosen = facetCondition(refined, excluded, timezone, facet.disjunctive ? facet : undefined)
  const paths = own.flatMap(({ value, verbatim = value }) =>
    [value, verbatim].flatMap(each => facetPaths(facet, each)),
  )
  const combined = conjunctionOrNull([filter, chosen])
  return { filter: combined, paths, statement: levelStatement(facet, [], combined, timezone, target) }
}

/** Excluded values are reported with the others. */
function withExcludedValues(
  facet: Facet,
  found: readonly FacetValue[],
  { excluded }: FacetQuestion,
): readonly FacetValue[] {
  const hidden = excluded
    .filter(filter => filter.facet.field.name === facet.field.name)
    .map(({ value }): FacetValue => {
      const steps = facetSteps(facet, value)
      return { state: 'excluded', name: steps.at(-1) ?? value, value: steps.join('/') }
    })
  const unlike = new Map(hidden.map(each => [each.value, each]))
  return [...found.filter(({ value }) => !unlike.has(value)), ...unlike.values()]
}

interface Surroundings {
  readonly timezone: string
  readonly target: CompileTarget
  readonly executor: Executor
}

async function level(
  facet: Facet,
  above: readonly string[],
  filter: Condition | null,
  paths: readonly (readonly string[])[],
  surroundings: Surroundings,
): Promise<readonly FacetValue[]> {
  const { timezone, target, executor } = surroundings
  const page = await executor.page(levelStatement(facet, above, filter, timezone, target))
  return valuesOf(facet, above, filter, paths, page, surroundings)
}

function levelStatement(
  facet: Facet,
  above: readonly string[],
  filter: Condition | null,
  timezone: string,
  target: CompileTarget,
): Statement {
  const within =
    above.length > 0 && isTemporal(facet.field.type)
      ? conjunctionOrNull([filter, valueCondition({ facet, value: above.join('/') }, timezone)])
      : filter
  const question: Question = { filter: within, timezone, limit: null, offset: 0 }
  return compileFacet(facet, above, question, target)
}

async function valuesOf(
  facet: Facet,
  above: readonly string[],
  filter: Condition | null,
  paths: readonly (readonly string[])[],
  page: SolutionPage,
  surroundings: Surroundings,
): Promise<readonly FacetValue[]> {
  const found = decodeFacet(page, facet.field.type).map(({ value, count }) => ({
    step: stepText(facet, value, above.length),
    count,
  }))
  const beyond =
    found.length < facet.limit ? [] : await refinedBeyond(facet, above, filter, paths, found, surroundings)
  const values: FacetValue[] = []
  for (const { step, count } of [...found, ...beyond]) {
    const steps = [...above, step]
    const isRefined = paths.some(path => steps.every((step, index) => path[index] === step))
    const opens = isRefined && hasLevels(facet) && steps.length < depthOf(facet)
    const below = opens ? await level(facet, steps, filter, paths, surroundings) : []
    // A path may be the prefix of others: the value itself is no step below it.
    const facets = below.filter(({ name }) => name !== '')
    values.push({
      name: steps.at(-1) ?? '',
      count,
      state: isRefined ? 'refined' : 'displayed',
      value: steps.join('/'),
      ...(facets.length > 0 ? { facets } : {}),
    })
  }
  return values
}

interface CountedStep {
  readonly step: string
  readonly count: number
}

/** Refined values that the limit of a facet has left out: they stay listed, so that they can be seen, opened and given up. */
async function refinedBeyond(
  facet: Facet,
  above: readonly string[],
  filter: Condition | null,
  paths: readonly (readonly string[])[],
  listed: readonly CountedStep[],
  { timezone, target, executor }: Surroundings,
): Promise<readonly CountedStep[]> {
  const within = paths.filter(path => above.every((step, index) => path[index] === step))
  const steps = new Set(within.flatMap(path => path.slice(above.length, above.length + 1)))
  for (const { step } of listed) steps.delete(step)
  const missing = [...steps].filter(step => step !== '')
  const pages = await executor.together(
    missing.map(step => {
      const value = valueCondition({ facet, value: [...above, step].join(facet.separator ?? '/') }, timezone)
      const question = { filter: conjunctionOrNull([filter, value]), timezone, limit: null, offset: 0 }
      return compileCount(question, target)
    }),
  )
  return missing
    .map((step, at) => ({ step, count: decodeCount((pages[at] as SolutionPage).solutions()) }))
    .filter(({ count }) => count > 0)
}

function stepText({ field }: Facet, value: FacetCount['value'], level: number): string {
  return isTemporal(field.type) ? dateStep(String(value), level) : String(value)
}
