/** A group of formats by purpose. */
export interface FormatGroup {
  readonly label: string
  readonly formats: readonly ShownFormat[]
}

/** An export format with its description. */
export interface ShownFormat {
  /** Its name in addresses. */
  readonly name: string
  readonly title: string
  /** Its purpose. */
  readonly description: { readonly label: string }
  /** True for RDF, whose files have all triples of the records. */
  readonly isRdf: boolean
}

/** The formats that the page offers, in groups; the API defines which of them a dataset has. */
export const FORMAT_GROUPS: readonly FormatGroup[] = [
  {
    label: 'Spreadsheets',
    formats: [
      table('csv', 'CSV', { label: 'Text with a separator: opens in every spreadsheet and program.' }),
      table('xlsx', 'Excel', { label: 'A workbook with typed cells, for Excel, LibreOffice and Numbers.' }),
    ],
  },
  {
    label: 'Maps and geographic information systems',
    formats: [
      table('geojson', 'GeoJSON', { label: 'For maps on the web, QGIS and most programs that draw maps.' }),
      table('shp', 'Shapefile', { label: 'A ZIP archive for ArcGIS, QGIS and older systems.' }),
      table('kml', 'KML', { label: 'For Google Earth and other globes.' }),
      table('gpx', 'GPX', { label: 'Waypoints for navigation devices and hiking maps.' }),
      table('fgb', 'FlatGeobuf', { label: 'Binary features: small, and quick to read for GDAL and QGIS.' }),
    ],
  },
  {
    label: 'Programs and analysis',
    formats: [
      table('json', 'JSON', { label: 'One array of objects, for programs of every language.' }),
      table('jsonl', 'JSON Lines', { label: 'One object a line: for streams and very large files.' }),
      table('parquet', 'Parquet', { label: 'Typed columns, for pandas, DuckDB, Spark and R.' }),
    ],
  },
  {
    label: 'Linked data (RDF)',
    formats: [
      rdf('turtle', 'Turtle', { label: 'The triples in the syntax that is easiest to read.' }),
      rdf('n3', 'N-Triples', { label: 'One triple a line: quickest to load into a triple store.' }),
      rdf('jsonld', 'JSON-LD', { label: 'RDF for programs that read JSON.' }),
      rdf('rdfxml', 'RDF/XML', { label: 'RDF for tools that read XML.' }),
    ],
  },
]

function table(name: string, title: string, description: ShownFormat['description']): ShownFormat {
  return { name, title, description, isRdf: false }
}

function rdf(name: string, title: string, description: ShownFormat['description']): ShownFormat {
  return { name, title, description, isRdf: true }
}
