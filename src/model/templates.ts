import { type WordOf, words } from './words.ts'

/** The type of a metadata value: a list is an array of texts, a longstring a multi-line text. */
export type MetaType = WordOf<'text longstring list datetime int double boolean geo_shape'>

/** One entry of a template (REST 2.8); its keys are in the order of the answer. */
export interface TemplateEntry {
  /** The form element with which a publisher enters it. */
  readonly widget: string
  readonly name: string
  /** Its property in linked data. */
  readonly uri: string | null
  readonly label: string
  /** The allowed values; null where any value is allowed. */
  readonly values: readonly string[] | null
  /** True where the values of other datasets are suggested. */
  readonly self_suggest: boolean
  readonly allow_empty: boolean
  readonly help_text: string | null
  /** True where it is not displayed among the other metadata of a dataset. */
  readonly hidden: boolean
  readonly type: MetaType
  /** The setting of the portal that contains the allowed values. */
  readonly values_domain_property: string | null
}

/** The purpose of a template: it names the folder in which the API lists it. */
export type TemplateType = 'interop' | 'basic' | 'extra' | 'admin'

/** A set of related metadata. */
export interface MetadataTemplate {
  readonly type: TemplateType
  readonly name: string
  readonly schema: readonly TemplateEntry[]
}

/** The types in the order and with the labels of the service, including its spelling (REST 2.8). */
export const TEMPLATE_TYPES: readonly { readonly type: TemplateType; readonly label: string }[] = [
  { type: 'interop', label: 'Interoperatibility' },
  { type: 'basic', label: 'Basic' },
  { type: 'extra', label: 'Extra' },
  { type: 'admin', label: 'Admin' },
]

const DCTERMS = 'http://purl.org/dc/terms/'
const DCAT = 'http://www.w3.org/ns/dcat#'
const FOAF = 'http://xmlns.com/foaf/0.1/'
const PROV = 'http://www.w3.org/ns/prov#'

const WIDGETS: Readonly<Record<MetaType, string>> = {
  text: 'textinput',
  longstring: 'richtextinput',
  list: 'multidatalist',
  datetime: 'datetimeinput',
  int: 'numberinput',
  double: 'numberinput',
  boolean: 'checkbox',
  geo_shape: 'geoinput',
}

type More = Partial<Omit<TemplateEntry, 'name' | 'type'>>

/** Computed by the service: publishers do not enter it. */
const COMPUTED: More = { hidden: true }
const SUGGESTED: More = { self_suggest: true }

/** Metadata that users see (REST 2.8). */
const DEFAULT: readonly TemplateEntry[] = [
  entry('title', 'text', { uri: `${DCTERMS}title`, allow_empty: false, hidden: true }),
  entry('description', 'longstring', { uri: `${DCTERMS}description` }),
  entry('theme', 'list', {
    uri: `${DCAT}theme`,
    label: 'Themes',
    values_domain_property: 'metadata.themes',
  }),
  entry('keyword', 'list', { uri: `${DCAT}keyword`, label: 'Keywords', ...SUGGESTED }),
  entry('license', 'text', { uri: `${DCTERMS}license`, ...SUGGESTED }),
  entry('license_url', 'text', { label: 'License URL' }),
  entry('language', 'text', { uri: `${DCTERMS}language` }),
  entry('metadata_languages', 'list', COMPUTED),
  entry('timezone', 'text'),
  entry('modified', 'datetime', { uri: `${DCTERMS}modified` }),
  entry('modified_updates_on_metadata_change', 'boolean', COMPUTED),
  entry('modified_updates_on_data_change', 'boolean', COMPUTED),
  entry('data_processed', 'datetime', COMPUTED),
  entry('metadata_processed', 'datetime', COMPUTED),
  entry('geographic_reference', 'list', { uri: `${DCTERMS}spatial` }),
  entry('geographic_reference_auto', 'boolean', COMPUTED),
  entry('territory', 'list'),
  entry('geometry_types', 'list', COMPUTED),
  entry('bbox', 'geo_shape', { uri: `${DCAT}bbox`, label: 'Bounding box', ...COMPUTED }),
  entry('publisher', 'text', { uri: `${DCTERMS}publisher`, ...SUGGESTED }),
  entry('references', 'text', { uri: `${DCTERMS}references` }),
  entry('records_count', 'int', { label: 'Number of records', ...COMPUTED }),
  entry('attributions', 'list', { uri: `${PROV}wasAttributedTo` }),
  entry('source_domain', 'text', COMPUTED),
  entry('source_domain_title', 'text', COMPUTED),
  entry('source_domain_address', 'text', COMPUTED),
  entry('source_dataset', 'text', { uri: `${DCTERMS}source`, ...COMPUTED }),
  entry('shared_catalog', 'text', COMPUTED),
  entry('federated', 'boolean', COMPUTED),
  entry('parent_domain', 'text', COMPUTED),
  entry('update_frequency', 'text', { uri: `${DCTERMS}accrualPeriodicity` }),
  entry('oauth_scope', 'text', { label: 'OAuth scope', ...COMPUTED }),
  entry('geographic_area_mode', 'text', COMPUTED),
  entry('geographic_area', 'geo_shape', COMPUTED),
]

/** Entries for the exchange between catalogs that the default template lacks (W3C DCAT 3). */
const DCAT_ENTRIES: readonly TemplateEntry[] = [
  entry('created', 'datetime', { uri: `${DCTERMS}created` }),
  entry('issued', 'datetime', { uri: `${DCTERMS}issued` }),
  entry('creator', 'text', { uri: `${DCTERMS}creator`, ...SUGGESTED }),
  entry('contributor', 'text', { uri: `${DCTERMS}contributor`, ...SUGGESTED }),
  entry('contact_name', 'text', { uri: `${DCAT}contactPoint` }),
  entry('contact_email', 'text', { uri: `${FOAF}mbox` }),
  entry('accrualperiodicity', 'text', { uri: `${DCTERMS}accrualPeriodicity`, label: 'Accrual periodicity' }),
  entry('spatial', 'text', { uri: `${DCTERMS}spatial` }),
  entry('temporal', 'text', { uri: `${DCTERMS}temporal` }),
  entry('granularity', 'text'),
  entry('dataquality', 'text', { label: 'Data quality' }),
  entry('publisher_type', 'text', { uri: `${DCTERMS}type` }),
  entry('conforms_to', 'text', { uri: `${DCTERMS}conformsTo` }),
  entry('temporal_coverage_start', 'datetime', { uri: `${DCAT}startDate` }),
  entry('temporal_coverage_end', 'datetime', { uri: `${DCAT}endDate` }),
  entry('accessRights', 'text', { uri: `${DCTERMS}accessRights`, label: 'Access rights' }),
  entry('relation', 'text', { uri: `${DCTERMS}relation` }),
]

/** Two additional entries of the Swiss profile. */
const DCAT_AP_CH: readonly TemplateEntry[] = [
  entry('domain', 'text'),
  entry('rights', 'text', { uri: `${DCTERMS}rights` }),
]

/** The metadata of spatial data sets in the European infrastructure for spatial information. */
const INSPIRE: readonly TemplateEntry[] = [
  ...entries(
    'text',
    'theme type file_identifier hierarchy_level hierarchy_level_name spatial_resolution',
    'topologic_consistency contact_individual_name contact_position contact_address contact_email',
  ),
  ...entries('longstring', 'identification_purpose extend_description'),
  ...entries(
    'double',
    'extend_bounding_box_westbound_longitude extend_bounding_box_eastbound_longitude',
    'extend_bounding_box_southbound_latitude extend_bounding_box_northbound_latitude',
  ),
]

/** The mapping of a dataset, and the sources of its triples (REST 2.8). */
const SEMANTIC: readonly TemplateEntry[] = [
  entry('rml_mapping', 'longstring', { label: 'RML mapping' }),
  ...entries('list', 'classes properties'),
]

/** The terms of the Dublin Core Metadata Initiative; intervals are given as two ends. */
const DUBLIN_CORE: readonly TemplateEntry[] = [
  term('title', 'text'),
  term('alternative', 'text'),
  term('subject', 'list'),
  term('description', 'longstring'),
  term('abstract', 'longstring'),
  term('tableOfContent', 'longstring', 'tableOfContents'),
  ...terms('text', 'type language coverage spatial'),
  term('temporal_start', 'datetime', 'temporal'),
  term('temporal_end', 'datetime', 'temporal'),
  ...terms(
    'text',
    'relation source replaces references requires conformsTo hasFormat hasPart hasVersion isFormatOf',
    'isPartOf isVersionOf isReferencedBy isReplacedBy isRequiredBy contributor creator publisher',
    'rights',
  ),
  term('accessRights', 'list'),
  term('license', 'text'),
  term('date_start', 'datetime', 'date'),
  term('date_end', 'datetime', 'date'),
  term('available_start', 'datetime', 'available'),
  term('available_end', 'datetime', 'available'),
  ...terms('datetime', 'created dateAccepted dateCopyrighted dateSubmitted issued modified'),
  term('valid_start', 'datetime', 'valid'),
  term('valid_end', 'datetime', 'valid'),
  term('format', 'list'),
  ...terms(
    'text',
    'extent medium identifier bibliographicCitation rightsHolder accrualMethod accrualPeriodicity',
    'accrualPolicy audience educationLevel instructionalMethod mediator provenance',
  ),
]

/** The initial view of a page that displays the dataset. */
const VISUALIZATION: readonly TemplateEntry[] = [
  ...entries('list', 'table_fields map_tooltip_fields image_fields'),
  ...entries('text', 'map_tooltip_title map_marker_color map_marker_picto'),
  ...entries('boolean', 'table_disabled map_disabled analyze_disabled calendar_enabled'),
  ...entries('text', 'calendar_event_title calendar_event_start calendar_event_end'),
]

/** Usage counts of a dataset: the application metadata of the catalog (REST 2.8). */
const EXPLORE: readonly TemplateEntry[] = [
  ...entries('int', 'download_count api_call_count attachment_download_count reuse_count feedback_count'),
  ...entries('double', 'popularity_score'),
  ...entries('list', 'geographic_reference_path geographic_reference_path_labels'),
].map(each => ({ ...each, ...COMPUTED }))

/**
 * The templates of every portal. `custom` and `internal` are empty here, because publishers name their entries: dataset.yaml may
 * use any name in any template.
 */
export const TEMPLATES: readonly MetadataTemplate[] = [
  { type: 'basic', name: 'default', schema: DEFAULT },
  { type: 'interop', name: 'dcat', schema: DCAT_ENTRIES },
  { type: 'interop', name: 'dcat_ap_ch', schema: DCAT_AP_CH },
  { type: 'interop', name: 'dublin-core', schema: DUBLIN_CORE },
  { type: 'interop', name: 'inspire', schema: INSPIRE },
  { type: 'interop', name: 'semantic', schema: SEMANTIC },
  { type: 'extra', name: 'custom', schema: [] },
  { type: 'extra', name: 'visualization', schema: VISUALIZATION },
  { type: 'admin', name: 'explore', schema: EXPLORE },
  { type: 'admin', name: 'internal', schema: [] },
]

function entry(name: string, type: MetaType, more: More = {}): TemplateEntry {
  return {
    widget: WIDGETS[type],
    name,
    uri: null,
    label: labelOf(name),
    values: null,
    self_suggest: false,
    allow_empty: true,
    help_text: null,
    hidden: false,
    type,
    values_domain_property: null,
    ...more,
  }
}

function entries(type: MetaType, ...names: readonly string[]): readonly TemplateEntry[] {
  return words(...names).map(name => entry(name, type))
}

function term(name: string, type: MetaType, property = name): TemplateEntry {
  return entry(name, type, { uri: DCTERMS + property })
}

function terms(type: MetaType, ...names: readonly string[]): readonly TemplateEntry[] {
  return words(...names).map(name => term(name, type))
}

/** `data_processed` is labelled "Data processed", `isPartOf` "Is part of". */
function labelOf(name: string): string {
  const text = name
    .replaceAll('_', ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}
