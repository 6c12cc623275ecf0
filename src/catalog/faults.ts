import { declareFault } from '../errors/errors.ts'

export const NOT_PUBLISHED_YET = declareFault(
  'NotPublishedYet',
  503,
  'The dataset {id} is being published. Try again in a moment.',
  { isCounted: false },
)
export const DATASET_DAMAGED = declareFault(
  'DatasetDamaged',
  503,
  'The dataset {id} cannot be served: the files of its published version are damaged.',
)
/** An incomplete list of datasets: a harvester would take the missing ones for withdrawn. */
export const CATALOG_INCOMPLETE = declareFault(
  'CatalogIncomplete',
  503,
  'Datasets served so far: {served} of {expected}. The others are being loaded or published. Try again in a moment.',
  { isCounted: false },
)
