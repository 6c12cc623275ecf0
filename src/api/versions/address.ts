import type { Manifest } from '../../publishing/versions/versions.ts'

/** Where all that is about the versions of a dataset is. */
export function versionsAddress(base: string, dataset: string): string {
  return `${base}/api/versions/${encodeURIComponent(dataset)}`
}

/** A pair of versions in a row. */
export interface VersionStep {
  readonly earlier: Manifest
  readonly later: Manifest
}

/** What follows on what, the latest first. */
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

/** A moment as XML Schema and Atom write it. */
export function versionMoment({ published }: Pick<Manifest, 'published'>): string {
  return new Date(published).toISOString()
}
