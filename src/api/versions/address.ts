import type { Manifest } from '../../publishing/versions/versions.ts'

/** Base address of the resources about versions of a dataset. */
export function versionsAddress(base: string, dataset: string): string {
  return `${base}/api/versions/${encodeURIComponent(dataset)}`
}

/** A pair of consecutive versions. */
export interface VersionStep {
  readonly earlier: Manifest
  readonly later: Manifest
}

/** The pairs of consecutive versions, the latest first. */
export function stepsOf(retained: readonly Manifest[]): readonly VersionStep[] {
  return retained.flatMap((later, at) => {
    const earlier = retained[at + 1]
    return earlier === undefined ? [] : [{ earlier, later }]
  })
}

export function versionTitle({ dataset }: Pick<Manifest, 'dataset'>): string {
  const title = dataset.metas.default?.title
  return typeof title === 'string' ? title : dataset.id
}

/** The time of publication in the format of XML Schema and Atom. */
export function versionMoment({ published }: Pick<Manifest, 'published'>): string {
  return new Date(published).toISOString()
}
