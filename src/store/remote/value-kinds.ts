import { GEO, RDF, XSD } from '../../rdf/vocab.ts'

/** A kind of values that engines treat alike: it counts as preserved only if an engine preserves all its examples. */
export interface ValueKind {
  /** The name of the kind in messages for users. */
  readonly name: string
  readonly datatype: string
  readonly holds: (value: string) => boolean
  /** Values that are stored in an engine, to compare what it returns. */
  readonly examples: readonly string[]
}

const always = () => true
const MAX_INT32 = 2 ** 31 - 1
const MAX_INT64 = 2n ** 63n - 1n
const INTEGER = /^(?:0|-?[1-9]\d*)$/
/** Digits of a decimal that engines with 64-bit numbers preserve. */
const DECIMAL_DIGITS = 15
/** Some engines convert older days to the calendar in use at that time. */
const GREGORIAN = '1583'

const digits = (value: string) => value.replace(/[-+.]/g, '').replace(/^0+/, '').length
const isWithin = (value: string, max: bigint) =>
  INTEGER.test(value) && value.length < 25 && BigInt(value) <= max && -BigInt(value) <= max

/** The kinds of typed literals; a value is of the first matching kind of its datatype. */
export const VALUE_KINDS: readonly ValueKind[] = [
  {
    name: 'integers',
    datatype: XSD.integer,
    holds: value => isWithin(value, BigInt(MAX_INT32)),
    examples: ['0', '-7', '2147483647', '-2147483647'],
  },
  {
    name: 'integers beyond 32 bits',
    datatype: XSD.integer,
    holds: value => isWithin(value, MAX_INT64),
    examples: ['2147483648', '-2147483649', '9007199254740993', '9223372036854775807'],
  },
  {
    name: 'integers beyond 64 bits',
    datatype: XSD.integer,
    holds: always,
    examples: ['123456789012345678901234567890', '-99999999999999999999', 'no number'],
  },
  {
    name: 'decimals',
    datatype: XSD.decimal,
    holds: value => /^[-+]?\d*\.?\d+$/.test(value) && digits(value) <= DECIMAL_DIGITS,
    examples: ['1.1', '-0.000001', '12345678901.5', '1.10', '999999999999.999'],
  },
  {
    name: 'decimals of more than 15 digits',
    datatype: XSD.decimal,
    holds: always,
    examples: ['0.1234567890123456789012345', '12345678901234567890.5'],
  },
  {
    name: 'doubles',
    datatype: XSD.double,
    holds: value => value !== '-0' && value.trim() !== '' && Number.isFinite(Number(value)),
    examples: ['0', '-0.5', '0.1', '0.30000000000000004', '48.85661412345679', '1.0E-7', '1.5E300', '1.0E15'],
  },
  {
    name: 'infinite doubles, NaN and -0',
    datatype: XSD.double,
    holds: always,
    examples: ['INF', '-INF', 'NaN', '-0'],
  },
  {
    name: 'booleans',
    datatype: XSD.boolean,
    holds: value => value === 'true' || value === 'false',
    examples: ['true', 'false'],
  },
  { name: 'booleans as numbers', datatype: XSD.boolean, holds: always, examples: ['1', '0', 'yes'] },
  {
    name: 'dates',
    datatype: XSD.date,
    holds: value => /^\d{4}-\d\d-\d\d$/.test(value) && value >= GREGORIAN && !Number.isNaN(Date.parse(value)),
    examples: ['2024-02-29', '1600-02-29', '9999-12-31', '1583-01-01'],
  },
  {
    name: 'dates before 1583, with a zone, or that are none',
    datatype: XSD.date,
    holds: always,
    examples: ['0987-01-01', '-0044-03-15', '1582-10-10', '2024-02-29+14:00', '2024-02-30', 'never'],
  },
  {
    name: 'moments',
    datatype: XSD.dateTime,
    holds: value =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/.test(value) &&
      value >= GREGORIAN &&
      !Number.isNaN(Date.parse(value)),
    examples: ['2024-02-29T23:59:59Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59Z'],
  },
  {
    name: 'moments before 1583, without UTC, or more exact than milliseconds',
    datatype: XSD.dateTime,
    holds: always,
    examples: [
      '0987-01-01T00:00:00Z',
      '2024-02-29T12:00:00',
      '2024-02-29T12:00:00.1234567891Z',
      '2024-02-29T12:00:00+05:30',
    ],
  },
  {
    name: 'positions and shapes (WKT)',
    datatype: GEO.wktLiteral,
    holds: always,
    examples: [
      'POINT(2.3522 48.8566)',
      'POINT(2.352222123456789 48.85)',
      'POLYGON((0 0, 10 0, 10 10, 0 10, 0 0))',
    ],
  },
  { name: 'JSON', datatype: RDF.JSON, holds: always, examples: ['[1,"é\\n",null,{"a":0.1}]', '{}'] },
  { name: 'times', datatype: XSD.time, holds: always, examples: ['12:30:00', '23:59:59.5Z'] },
  { name: 'durations', datatype: XSD.duration, holds: always, examples: ['P1DT2H', '-P1Y2M'] },
  { name: 'years', datatype: XSD.gYear, holds: always, examples: ['2024', '0987'] },
]

/** All other datatypes: they are preserved together or not at all. */
export const OTHER_KIND = 'values of other datatypes'

/** Examples of other datatypes. */
export const OTHER_EXAMPLES: readonly (readonly [datatype: string, value: string])[] = [
  ['urn:lodestone:probe', 'x'],
  [XSD.float, '0.5'],
  [XSD.gYearMonth, '2024-02'],
]

const BY_DATATYPE = new Map<string, ValueKind[]>()
for (const kind of VALUE_KINDS)
  BY_DATATYPE.set(kind.datatype, [...(BY_DATATYPE.get(kind.datatype) ?? []), kind])

/** The name of the kind of a typed literal. */
export function kindOfValue(value: string, datatype: string): string {
  return BY_DATATYPE.get(datatype)?.find(({ holds }) => holds(value))?.name ?? OTHER_KIND
}
