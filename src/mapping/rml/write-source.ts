import type { LogicalSource } from '../ir.ts'
import type { WrittenNode } from './turtle-writer.ts'
import { CSVW } from './vocabulary.ts'
import type { RmlDialect } from './write-terms.ts'

/** A logical source: a file by its path, or a table with its own dialect, described with CSVW. */
export function sourceNode(
  dialect: RmlDialect,
  { path, formulation, iterator, dialect: table }: LogicalSource,
): WrittenNode {
  const { term, names, vocabulary } = dialect
  const file = names.literal(path ?? (formulation === 'csv' ? 'data.csv' : 'data.json'), undefined, undefined)
  const relative: WrittenNode = [
    { predicate: 'a', object: term('RelativePathSource') },
    { predicate: term('root'), object: term('MappingDirectory') },
    { predicate: term('path'), object: file },
    ...(table?.nulls ?? []).map(value => ({
      predicate: term('null'),
      object: names.literal(value, undefined, undefined),
    })),
  ]
  const hasDialect = table !== undefined && Object.keys(table).some(key => key !== 'nulls')
  const source =
    vocabulary === 'rml' && !hasDialect
      ? relative
      : table !== undefined
        ? tableNode(dialect, file, table)
        : file
  return [
    { predicate: term('source'), object: source },
    { predicate: term('referenceFormulation'), object: term(formulation === 'csv' ? 'CSV' : 'JSONPath') },
    ...(iterator === null
      ? []
      : [{ predicate: term('iterator'), object: names.literal(iterator, undefined, undefined) }]),
  ]
}

function tableNode(
  { names }: RmlDialect,
  file: string,
  table: NonNullable<LogicalSource['dialect']>,
): WrittenNode {
  const name = (local: string) => names.iri(CSVW + local)
  const text = (value: string) => names.literal(value, undefined, undefined)
  const said = [
    ['delimiter', table.delimiter === undefined ? undefined : text(table.delimiter)],
    ['quoteChar', table.quote === undefined ? undefined : text(table.quote ?? '')],
    ['encoding', table.encoding === undefined ? undefined : text(table.encoding)],
    ['commentPrefix', table.comment === undefined ? undefined : text(table.comment)],
    ['header', table.header?.toString()],
    ['trim', table.trim?.toString()],
  ] as const
  const dialect = said.flatMap(([local, object]) =>
    object === undefined ? [] : { predicate: name(local), object },
  )
  return [
    { predicate: 'a', object: name('Table') },
    { predicate: name('url'), object: file },
    ...(dialect.length === 0 ? [] : [{ predicate: name('dialect'), object: dialect }]),
    ...(table.nulls ?? []).map(value => ({ predicate: name('null'), object: text(value) })),
  ]
}
