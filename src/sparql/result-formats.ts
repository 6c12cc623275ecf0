import { SPECIAL_IN_XML, XML_DECLARATION, xmlAttribute, xmlText } from '../model/xml.ts'
import { escapeText, iriText, literalEnd, termText } from '../rdf/ntriples.ts'
import type { Term, TripleTerm } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'

/** Formats of the results of SELECT and ASK. */
export type ResultFormat = 'json' | 'xml' | 'csv' | 'tsv'

/** Where an incomplete answer continues. */
export interface Rest {
  /** The cursor with which to send the query again. */
  readonly cursor: string
  /** The URL of the rest. */
  readonly next?: string
}

/** How the texts of cells are combined to a row. */
export interface RowLayout {
  /** The texts before the first row, and before each other row. */
  readonly first: string
  readonly begin: string
  readonly end: string
  readonly separator: string
  /** The texts before and after the cell of each variable. */
  readonly before: readonly string[]
  readonly after: string
  /** True where the cell of an unbound variable is omitted together with the texts around it; otherwise it is an empty cell. */
  readonly isSparse: boolean
}

/** What determines how a term is written: all of it but its value. */
export interface TermKind {
  readonly type: 'iri' | 'blank' | 'literal'
  /** Of a literal; otherwise empty. */
  readonly datatype: string
  readonly language: string
}

/** How the values of terms are written, the same object for all terms of a kind. */
export interface CellForm {
  readonly before: string
  readonly after: string
  /** 1 for each byte of UTF-8 that needs no escaping. */
  readonly plain: Uint8Array
  readonly escape: (value: string) => string
}

/** Writes the parts of rows, for callers that write a cell once and use it in many rows. */
export interface CellWriter {
  readonly head: (variables: readonly string[]) => string
  readonly layout: (variables: readonly string[]) => RowLayout
  readonly form: (kind: TermKind) => CellForm
  readonly triple: (term: TripleTerm) => string
  /** @param rest where the answer continues; absent where it is complete */
  readonly end: (rest?: Rest) => string
}

/** The text of a cell. */
export function termCell({ form, triple }: CellWriter, term: Term): string {
  if (term.type === 'triple') return triple(term)
  const { before, after, escape: escaped } = form(kindOf(term))
  return `${before}${escaped(term.value)}${after}`
}

function kindOf(term: Exclude<Term, TripleTerm>): TermKind {
  return term.type === 'literal' ? term : { type: term.type, datatype: '', language: '' }
}

/** First byte of characters that not every format can contain (U+FFFE, U+FFFF), and of others. */
const HIGHEST = 0xef

/** @param special the characters to escape */
function plainBytes(special: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    if (byte >= 128) return byte === HIGHEST ? 0 : 1
    return special.test(String.fromCharCode(byte)) ? 0 : 1
  })
}

/** Maximum number of cached forms of literals. */
const MAX_FORMS = 1000

/** The forms of a format: those of literals are created once for a datatype and a language. */
function formsOf(
  iri: CellForm,
  blank: CellForm,
  literalForm: (kind: TermKind) => CellForm,
): (kind: TermKind) => CellForm {
  const known = new Map<string, CellForm>()
  const plainLiteral = literalForm({ type: 'literal', datatype: XSD.string, language: '' })
  return kind => {
    if (kind.type !== 'literal') return kind.type === 'iri' ? iri : blank
    const { datatype, language } = kind
    if (language === '' && datatype === XSD.string) return plainLiteral
    const key = language === '' ? datatype : `@${language}`
    let form = known.get(key)
    if (form === undefined) {
      form = literalForm(kind)
      if (known.size >= MAX_FORMS) known.clear()
      known.set(key, form)
    }
    return form
  }
}

/** The cell writer of a format. */
export function cellWriter(format: ResultFormat): CellWriter {
  return { json: JSON_RESULTS, xml: XML_RESULTS, csv: CSV, tsv: TSV }[format]
}

/** The namespace of SPARQL Query Results XML. */
export const XML_NAMESPACE = 'http://www.w3.org/2005/sparql-results#'
const ITS = 'http://www.w3.org/2005/11/its'

const QUOTED = /[",\r\n]/
const quoted = (text: string) => (QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Rows of cells with no texts around them. */
const plainLayout = (variables: readonly string[], separator: string, end: string): RowLayout => ({
  first: '',
  begin: '',
  end,
  separator,
  before: variables.map(() => ''),
  after: '',
  isSparse: false,
})

const CSV_FORM: CellForm = { before: '', after: '', plain: plainBytes(QUOTED), escape: quoted }

/** SPARQL 1.1 Query Results CSV (section 3): values without their kind. */
const CSV: CellWriter = {
  head: variables => `${variables.map(quoted).join(',')}\r\n`,
  layout: variables => plainLayout(variables, ',', '\r\n'),
  form: formsOf(CSV_FORM, { ...CSV_FORM, before: '_:' }, () => CSV_FORM),
  triple: term => quoted(plain(term)),
  end: () => '',
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what has to be escaped
const TSV_LITERAL = { plain: plainBytes(/["\\\u0000-\u001f\u007f]/), escape: escapeText }
const TSV_IRI: CellForm = {
  before: '<',
  after: '>',
  // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
  plain: plainBytes(/[\u0000-\u0020\u007f<>"{}|^`\\]/),
  escape: iri => iriText(iri).slice(1, -1),
}
const TSV_BLANK: CellForm = { ...TSV_LITERAL, before: '_:', after: '' }

/** SPARQL 1.1 Query Results TSV (section 4): terms as in Turtle. */
const TSV: CellWriter = {
  head: variables => `${variables.map(name => `?${name}`).join('\t')}\n`,
  layout: variables => plainLayout(variables, '\t', '\n'),
  form: formsOf(TSV_IRI, TSV_BLANK, ({ datatype, language }) => ({
    ...TSV_LITERAL,
    before: '"',
    after: literalEnd(datatype, language),
  })),
  triple: termText,
  end: () => '',
}

/** The content of a JSON string, between the quotes. */
const JSON_TEXT = {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what has to be escaped
  plain: plainBytes(/["\\\u0000-\u001f]/),
  escape: (value: string) => JSON.stringify(value).slice(1, -1),
}

/**
 * SPARQL 1.1 Query Results JSON, one line per row; triple terms and base directions (`its:dir`) as in SPARQL 1.2 Query Results
 * JSON, section 3.2.2.
 */
const JSON_RESULTS: CellWriter = {
  head: variables => `{"head":{"vars":${JSON.stringify(variables)}},\n"results":{"bindings":[`,
  layout: variables => ({
    first: '\n{',
    begin: ',\n{',
    end: '}',
    separator: ',',
    before: variables.map(name => `${JSON.stringify(name)}:`),
    after: '',
    isSparse: true,
  }),
  form: formsOf(
    { ...JSON_TEXT, before: '{"type":"uri","value":"', after: '"}' },
    { ...JSON_TEXT, before: '{"type":"bnode","value":"', after: '"}' },
    kind => ({ ...JSON_TEXT, before: '{"type":"literal","value":"', after: `"${jsonKind(kind)}}` }),
  ),
  triple: ({ subject, predicate, object }) => {
    const [s, p, o] = [subject, predicate, object].map(term => termCell(JSON_RESULTS, term))
    return `{"type":"triple","value":{"subject":${s},"predicate":${p},"object":${o}}}`
  },
  end: rest => (rest === undefined ? '\n]}}\n' : `\n]},\n"continuation":${JSON.stringify(rest)}}\n`),
}

function jsonKind({ datatype, language }: TermKind): string {
  if (language === '') return datatype === XSD.string ? '' : `,"datatype":${JSON.stringify(datatype)}`
  const [tag, direction] = directed(language)
  return `,"xml:lang":${JSON.stringify(tag)}${direction === undefined ? '' : `,"its:dir":"${direction}"`}`
}

/** A language tag, and its optional base direction. */
function directed(language: string): readonly [tag: string, direction: string | undefined] {
  return language.split('--') as [string, string | undefined]
}

const XML_TEXT = { plain: plainBytes(SPECIAL_IN_XML), escape: xmlText }

/** SPARQL Query Results XML Format; triple terms and base directions as in SPARQL 1.2 Query Results XML, section 2.3.1. */
const XML_RESULTS: CellWriter = {
  head: variables => {
    const names = variables.map(name => `<variable name="${xmlAttribute(name)}"/>`).join('')
    return `${XML_DECLARATION}<sparql xmlns="${XML_NAMESPACE}" xmlns:its="${ITS}" its:version="2.0"><head>${names}</head><results>\n`
  },
  layout: variables => ({
    first: '<result>',
    begin: '<result>',
    end: '</result>\n',
    separator: '',
    before: variables.map(name => `<binding name="${xmlAttribute(name)}">`),
    after: '</binding>',
    isSparse: true,
  }),
  form: formsOf(
    { ...XML_TEXT, before: '<uri>', after: '</uri>' },
    { ...XML_TEXT, before: '<bnode>', after: '</bnode>' },
    kind => ({ ...XML_TEXT, before: `<literal${xmlKind(kind)}>`, after: '</literal>' }),
  ),
  triple: ({ subject, predicate, object }) => {
    const [s, p, o] = [subject, predicate, object].map(term => termCell(XML_RESULTS, term))
    return `<triple><subject>${s}</subject><predicate>${p}</predicate><object>${o}</object></triple>`
  },
  end: () => '</results></sparql>\n',
}

function xmlKind({ datatype, language }: TermKind): string {
  if (language === '') return datatype === XSD.string ? '' : ` datatype="${xmlAttribute(datatype)}"`
  const [tag, direction] = directed(language)
  return ` xml:lang="${xmlAttribute(tag)}"${direction === undefined ? '' : ` its:dir="${direction}"`}`
}

/** The value of a term without its kind. */
export function plain(term: Term): string {
  switch (term.type) {
    case 'iri':
    case 'literal':
      return term.value
    case 'blank':
      return `_:${term.value}`
    case 'triple':
      return `${plain(term.subject)} ${plain(term.predicate)} ${plain(term.object)}`
  }
}
