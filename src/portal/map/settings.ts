/** Settings that a page passes to the script of its map. */
export interface MapSettings {
  /** Path of the dataset in the Explore API v2.1. */
  readonly api: string
  /** The selection as a query string of that API; empty for all records. */
  readonly filter: string
  /** The field of the places as ODSQL names it, and as answers do. */
  readonly field: string
  readonly key: string
  readonly isShape: boolean
  /** Records that are selected. */
  readonly total: number
  /** The field that says what a record is called. */
  readonly title: { readonly name: string; readonly text: string }
  /** What is reported of a record. */
  readonly fields: readonly { readonly name: string; readonly label: string; readonly type: string }[]
  /** What the path of each record begins with. */
  readonly records: string
  readonly language: string
  readonly tiles?: string
  readonly texts: Readonly<Record<MapText, string>>
}

export type MapText =
  | 'record'
  | 'zoomIn'
  | 'zoomOut'
  | 'close'
  | 'yes'
  | 'no'
  | 'failed'
  | 'waiting'
  | 'group'
  | 'status'
  | 'groups'
  | 'cut'
  | 'more'
  | 'nowhere'
