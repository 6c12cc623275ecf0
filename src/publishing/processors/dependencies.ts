import type { Fault } from '../../errors/errors.ts'
import { type Definition, definedDatasets, mayDefine, readDefinition } from '../definition.ts'
import { fingerprintOf } from '../source-digest.ts'
import { currentManifest, isWithdrawn, type Versions, versionsOf } from '../versions/versions.ts'
import { type Processor, stepFault } from './schema.ts'

type Lookup = Processor & { readonly step: Extract<Processor['step'], { type: 'lookup' }> }

function lookupsOf(processors: readonly Processor[]): readonly Lookup[] {
  return processors.filter((processor): processor is Lookup => processor.step.type === 'lookup')
}

/** The datasets that are looked up by a dataset, according to its current dataset.yaml. */
function datasetsBefore(portal: string, id: string): readonly string[] {
  if (!mayDefine(portal, id, 'lookup')) return []
  const { definition } = readDefinition(portal, id)
  return lookupsOf(definition?.processors ?? []).map(({ step }) => step.settings.dataset)
}

/** The digest of a source together with the versions that are looked up: a new version of these changes the records. */
export function digestWithLookups({ processors }: Definition, portal: string, source: string): string {
  const lookups = lookupsOf(processors)
  if (lookups.length === 0) return source
  const versions = versionsOf(portal)
  const visited = lookups.map(
    ({ step }) => currentManifest(versions, step.settings.dataset)?.fingerprint ?? '',
  )
  return fingerprintOf('lookups', source, visited.join('\n'))
}

/** Refuses look-ups that lead back to the dataset itself: they would cause endless new versions. */
export function refuseCycle({ id, processors }: Definition, portal: string): void {
  for (const lookup of lookupsOf(processors)) {
    const visited = new Set<string>()
    const open = [lookup.step.settings.dataset]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === id)
        throw stepFault(
          lookup,
          `${lookup.step.settings.dataset} is made of ${id} itself: another dataset is expected`,
          {
            member: 'dataset',
          },
        )
      if (visited.has(next)) continue
      visited.add(next)
      open.push(...datasetsBefore(portal, next))
    }
  }
}

/** Look-ups in datasets that are published for the first time together with this one, before it. */
export function lookupsToCome(
  { processors }: Definition,
  portal: string,
  together: readonly string[],
): readonly Fault[] {
  const versions = versionsOf(portal)
  return lookupsOf(processors).flatMap(lookup => {
    const id = lookup.step.settings.dataset
    const isToCome =
      together.includes(id) &&
      currentManifest(versions, id) === null &&
      readDefinition(portal, id).definition?.visibility === 'public'
    const reason = `${id} is published first; records and mapping can be checked after that`
    return isToCome ? [stepFault(lookup, reason, { member: 'dataset' })] : []
  })
}

/**
 * Groups of datasets that can be published one after another: each dataset follows those that it looks up. Without any look-ups
 * there is one group.
 */
export function publicationOrder(portal: string, ids: readonly string[]): readonly (readonly string[])[] {
  const levels = new Map<string, number>()
  const chosen = new Set(ids)
  const levelOf = (id: string, path: readonly string[]): number => {
    const known = levels.get(id)
    if (known !== undefined || path.includes(id) || path.length > 100) return known ?? 0
    const before = datasetsBefore(portal, id).filter(other => chosen.has(other))
    const level = Math.max(0, ...before.map(other => levelOf(other, [...path, id]) + 1))
    levels.set(id, level)
    return level
  }
  const groups: string[][] = []
  for (const id of ids) {
    const level = levelOf(id, [])
    while (groups.length <= level) groups.push([])
    groups[level]?.push(id)
  }
  return groups.filter(group => group.length > 0)
}

/** Datasets, and all published datasets that look them up, directly or indirectly. */
export function withDependants(
  portal: string,
  versions: Versions,
  ids: readonly string[],
): readonly string[] {
  const found = new Set(ids)
  const others = definedDatasets(portal).flatMap(id => {
    const before = found.has(id) || isWithdrawn(versions, id) ? [] : datasetsBefore(portal, id)
    return before.length === 0 ? [] : [{ id, before }]
  })
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const { id, before } of others) if (before.some(other => found.has(other))) found.add(id)
  }
  return [...found]
}
