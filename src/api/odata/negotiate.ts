import { Fault, NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE } from '../../errors/errors.ts'
import { ANYTHING, type MediaRange, mediaRangeOf, mediaRanges } from '../../http/negotiate.ts'
import { percentDecoded } from '../../language/odata/decode.ts'
import { ODATA_ERROR } from '../../language/odata/faults.ts'
import type { PayloadFormat, Version } from './format/shape.ts'
import { type RequestedVersion, type RequestHeaders, readVersions } from './protocol-version.ts'

/** Kinds of documents with different media types (OData Atom 4.0, section 4.1). */
export type DocumentKind = 'service' | 'metadata' | 'feed' | 'entity' | 'property'

/** The format of an answer, and its media type. */
export interface ODataFormat extends Omit<PayloadFormat, 'omitNulls'> {
  readonly contentType: string
}

/** Maximum number of media ranges that are read. */
const MAX_RANGES = 50

/** The format if the negotiation fails. */
const DEFAULT_FORMAT: ODataFormat = {
  type: 'json',
  version: '4.0',
  level: 'minimal',
  ieee754: false,
  contentType: 'application/json;odata.metadata=minimal',
}

/**
 * Negotiates version and format of an answer (OData service 2.1): `$format` before the Accept header; the accepted type of
 * the highest quality; at equal quality JSON of 4.0, JSON of 3.0, Atom. A media type that only 3.0 has selects 3.0 if no
 * header selects a version.
 *
 * Faults: ODataError for an empty `$format`, UnsupportedMediaType for an unknown one, NotAcceptable if a parameter is
 * unknown or no accepted format can be written.
 *
 * @param format the verbatim value of `$format`
 */
export function negotiateFormat(
  wish: RequestedVersion,
  accept: string | undefined,
  format: string | undefined,
  kind: DocumentKind,
): ODataFormat {
  if (format !== undefined) return formatNamed(format, wish, kind)
  const isOpen = accept === undefined || accept.trim() === ''
  const ranges = isOpen ? [ANYTHING] : mediaRanges(accept).slice(0, MAX_RANGES)
  if (kind === 'metadata') return metadataFormat(ranges, wish)
  let best: { readonly format: ODataFormat; readonly quality: number } | null = null
  for (const range of ranges) {
    const found = range.quality === 0 ? null : formatOf(range, ranges, wish, kind)
    if (found === null || (best !== null && !isBetter(found, range.quality, best))) continue
    best = { format: found, quality: range.quality }
  }
  if (best === null) throw notAcceptable(kind, wish)
  return best.format
}

/**
 * The format for errors and raw text: that of the request, as far as it can be read. Never throws.
 *
 * @param format see {@link negotiateFormat}
 */
export function formatAnyway(headers: RequestHeaders, format: string | undefined): ODataFormat {
  for (const attempt of [
    () => negotiateFormat(readVersions(headers), headers.accept, format, 'feed'),
    () => negotiateFormat(readVersions(headers), undefined, undefined, 'feed'),
  ])
    try {
      return attempt()
    } catch (error) {
      if (!(error instanceof Fault)) throw error
    }
  return DEFAULT_FORMAT
}

function isBetter(
  format: ODataFormat,
  quality: number,
  best: { readonly format: ODataFormat; readonly quality: number },
): boolean {
  return quality > best.quality || (quality === best.quality && rank(format) < rank(best.format))
}

/** JSON of 4.0, JSON of 3.0, verbose JSON, Atom. */
function rank({ type, version }: ODataFormat): number {
  return type === 'atom' ? 3 : type === 'verbose' ? 2 : version === '4.0' ? 0 : 1
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['atom', 'application/atom+xml'],
  ['verbosejson', 'application/json;odata=verbose'],
  ['jsonverbose', 'application/json;odata=verbose'],
])

const MAX_FORMAT_LENGTH = 200

function formatNamed(raw: string, wish: RequestedVersion, kind: DocumentKind): ODataFormat {
  const text = percentDecoded(raw, '$format').trim()
  if (text === '') throw new Fault(ODATA_ERROR, { reason: '$format: a format is expected.' })
  if (text.toLowerCase() === 'atom' && kind === 'service') return xml('application/atomsvc+xml', wish)
  // Names take the parameters of their media types: json;odata=nometadata.
  const [, name = '', parameters = ''] = /^([^;\s]*)(.*)$/s.exec(text) ?? []
  const range = mediaRangeOf((SHORT.get(name.toLowerCase()) ?? name) + parameters)
  const isKnown = range !== null && NAMED.includes(range.type)
  if (!isKnown || text.length > MAX_FORMAT_LENGTH) {
    const reason = `$format: ${text.slice(0, 60)} is no format of this service, use json, atom, xml or a media type.`
    throw new Fault(UNSUPPORTED_MEDIA_TYPE, { reason })
  }
  const found = kind === 'metadata' ? metadataFormatNamed(range, wish) : formatOf(range, [range], wish, kind)
  if (found === null) throw notAcceptable(kind, wish)
  return found
}

const NAMED = ['application/json', 'application/xml', 'application/atom+xml', 'application/atomsvc+xml']

/** The metadata document is XML for clients that accept XML; JSON for those that accept only JSON (OData service 2.2). */
function metadataFormat(ranges: readonly MediaRange[], wish: RequestedVersion): ODataFormat {
  const liked = ranges.filter(({ quality }) => quality > 0)
  const isXml = ({ type }: MediaRange) =>
    type !== 'application/json' && /^(?:\*|application)\/|xml$/.test(type)
  const [json] = liked.filter(({ type }) => type === 'application/json')
  const refused = ranges.some(({ type, quality }) => type === 'application/xml' && quality === 0)
  if (!refused && liked.some(isXml)) return xml('application/xml', wish)
  if (json === undefined) throw notAcceptable('metadata', wish)
  // In 3.0 the document exists only as XML, whatever data format was requested.
  return metadataFormatNamed(json, wish) ?? xml('application/xml', wish)
}

function metadataFormatNamed(range: MediaRange, wish: RequestedVersion): ODataFormat | null {
  if (range.type !== 'application/json') return xml('application/xml', wish)
  const format = jsonFormat(range, wish)
  return format?.version === '4.0' ? { ...format, contentType: 'application/json' } : null
}

/** The format for a media range; null if it is not served. */
function formatOf(
  range: MediaRange,
  all: readonly MediaRange[],
  wish: RequestedVersion,
  kind: DocumentKind,
): ODataFormat | null {
  switch (range.type) {
    case '*/*':
    case 'application/*':
      return defaultFormat(range, all, wish, kind)
    case 'application/json':
      return jsonFormat(range, wish)
    case 'application/xml':
      return hasOnly(range, ['charset']) ? xml('application/xml', wish) : null
    case 'application/atom+xml':
      return atomFormat(range, wish, kind)
    case 'application/atomsvc+xml':
      return kind === 'service' && hasOnly(range, ['charset']) ? xml(range.type, wish) : null
    default:
      return null
  }
}

/** The format for `any type`: the first that is not refused or rated by another range. */
function defaultFormat(
  { quality }: MediaRange,
  all: readonly MediaRange[],
  wish: RequestedVersion,
  kind: DocumentKind,
): ODataFormat | null {
  const types =
    wish === '2.0'
      ? ['application/atom+xml', 'application/json']
      : ['application/json', 'application/atom+xml']
  const free = types.find(type => !all.some(range => range.type === type && range.parameters.size === 0))
  return free === undefined ? null : formatOf({ type: free, parameters: new Map(), quality }, all, wish, kind)
}

function atomFormat(range: MediaRange, wish: RequestedVersion, kind: DocumentKind): ODataFormat | null {
  const isEntry = range.parameters.get('type')
  if (!hasOnly(range, ['charset', 'type'])) return null
  if (kind === 'service' || kind === 'property' || kind === 'metadata') return xml('application/xml', wish)
  const type = kind === 'feed' ? 'feed' : 'entry'
  if (isEntry !== undefined && isEntry !== type) return null
  return xml(`application/atom+xml;type=${type}`, wish)
}

function xml(contentType: string, wish: RequestedVersion): ODataFormat {
  return { type: 'atom', version: wish ?? '4.0', level: 'minimal', ieee754: false, contentType }
}

/** Parameters of JSON by the version that has them; the others are in both versions. */
const OF_V4 = ['odata.metadata', 'metadata', 'odata.streaming', 'ieee754compatible', 'exponentialdecimals']
const LEVELS: ReadonlyMap<string, ODataFormat['level']> = new Map([
  ['minimal', 'minimal'],
  ['full', 'full'],
  ['none', 'minimal'],
])
const OLD_LEVELS: ReadonlyMap<string, ODataFormat['level']> = new Map([
  ['minimalmetadata', 'minimal'],
  ['fullmetadata', 'full'],
  ['nometadata', 'minimal'],
  ['light', 'minimal'],
  ['verbose', 'minimal'],
])

/** JSON with its parameters (OData JSON 4.0, section 3; OData 3.0 JSON, section 3); null if one is unknown. */
function jsonFormat(range: MediaRange, wish: RequestedVersion): ODataFormat | null {
  const { parameters } = range
  if (!hasOnly(range, [...OF_V4, 'odata', 'streaming', 'charset'])) return null
  const isV4 = OF_V4.some(name => parameters.has(name))
  const old = parameters.get('odata')
  const version = wish ?? (old !== undefined && !isV4 ? '3.0' : '4.0')
  if (old === undefined ? version !== '4.0' && isV4 : version === '4.0') return null
  const streaming = truth(parameters.get('odata.streaming') ?? parameters.get('streaming'))
  if (streaming === null) return null
  return version === '4.0' ? jsonOfV4(range, streaming) : olderJson(range, streaming, version)
}

function jsonOfV4({ parameters }: MediaRange, streaming: boolean): ODataFormat | null {
  const level = LEVELS.get(parameters.get('odata.metadata') ?? parameters.get('metadata') ?? 'minimal')
  const ieee754 = truth(parameters.get('ieee754compatible'))
  const exponents = truth(parameters.get('exponentialdecimals'))
  if (level === undefined || ieee754 === null || exponents === null) return null
  const described = [
    `odata.metadata=${level}`,
    streaming && 'odata.streaming=true',
    parameters.has('ieee754compatible') && `IEEE754Compatible=${ieee754}`,
    parameters.has('charset') && 'charset=utf-8',
  ]
  return { ...DEFAULT_FORMAT, level, ieee754, contentType: mediaType(described) }
}

/** 2.0 has only verbose JSON, without parameters. */
function olderJson(
  { parameters }: MediaRange,
  streaming: boolean,
  version: Exclude<Version, '4.0'>,
): ODataFormat | null {
  const requested = parameters.get('odata') ?? (version === '2.0' ? 'verbose' : 'minimalmetadata')
  const level = OLD_LEVELS.get(requested)
  if (level === undefined) return null
  const type = requested === 'verbose' ? 'verbose' : 'json'
  if (type === 'json' && version === '2.0') return null
  const asWritten = [
    (version === '3.0' || parameters.has('odata')) &&
      `odata=${type === 'verbose' ? 'verbose' : `${level}metadata`}`,
    streaming && 'streaming=true',
    parameters.has('charset') && 'charset=utf-8',
  ]
  const contentType = mediaType(asWritten)
  return {
    type,
    version,
    level,
    ieee754: false,
    contentType,
  }
}

function mediaType(parameters: readonly (string | false)[]): string {
  return ['application/json', ...parameters.filter(parameter => parameter !== false)].join(';')
}

/** null for what is neither. */
function truth(text: string | undefined): boolean | null {
  return text === undefined || text === 'false' ? false : text === 'true' ? true : null
}

function hasOnly({ parameters }: MediaRange, known: readonly string[]): boolean {
  const charset = parameters.get('charset') ?? 'utf-8'
  return (
    (charset === 'utf-8' || charset === 'utf8') && [...parameters.keys()].every(name => known.includes(name))
  )
}

/** The default JSON media type of each version. */
export const JSON_TYPES: Readonly<Record<Version, string>> = {
  '4.0': DEFAULT_FORMAT.contentType,
  '3.0': 'application/json;odata=minimalmetadata',
  '2.0': 'application/json',
}

function notAcceptable(kind: DocumentKind, wish: RequestedVersion): Fault {
  const json = JSON_TYPES[wish ?? '4.0']
  const rest: Readonly<Record<DocumentKind, string>> = {
    service: 'application/atomsvc+xml, application/xml',
    metadata: 'application/xml',
    feed: 'application/atom+xml, application/xml',
    entity: 'application/atom+xml, application/xml',
    property: 'application/xml',
  }
  return new Fault(NOT_ACCEPTABLE, {
    available: kind === 'metadata' ? rest.metadata : `${json}, ${rest[kind]}`,
  })
}
