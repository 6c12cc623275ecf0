/** Settings that a page passes to the script of its map. */
export interface MapSettings {
  /** Path of the dataset in the Explore API v2.1. */
  readonly api: string
  /** The selection as a query string of that API; empty for all records. */
  readonly filter: string
  /** The name of the geographic field in ODSQL, and in answers. */
  readonly field: string
  readonly key: string
  readonly isShape: boolean
  readonly total: number
  /** The field with the name of a record. */
  readonly title: { readonly name: string; readonly text: string }
  readonly fields: readonly PopupField[]
  /** Prefix of the paths of records. */
  readonly records: string
  readonly language: string
  readonly tiles?: string
  readonly texts: Readonly<Record<MapText, string>>
}

/** A field whose value is in the popup of a record. */
export interface PopupField {
  readonly name: string
  readonly label: string
  readonly type: string
  /** Its numbers are names and no quantities. */
  readonly isName: boolean
}

export type MapText =
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
