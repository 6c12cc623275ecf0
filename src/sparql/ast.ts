import type { Literal, NamedNode, Term } from '../rdf/term.ts'
import type { LODESTONE } from '../rdf/vocab.ts'

/** A variable, named without its question mark. */
export interface Variable {
  readonly type: 'variable'
  readonly name: string
}

/** A term or a variable: a position of a triple pattern. */
export type Node = Term | Variable

export type SparqlOperator = '||' | '&&' | '=' | '!=' | '<' | '<=' | '>' | '>=' | '+' | '-' | '*' | '/'

/** The built-in functions that the compiler uses (SPARQL 1.1 Query, section 17.4). */
export type BuiltIn =
  | 'ABS'
  | 'BOUND'
  | 'CEIL'
  | 'COALESCE'
  | 'CONCAT'
  | 'CONTAINS'
  | 'DATATYPE'
  | 'DAY'
  | 'FLOOR'
  | 'HOURS'
  | 'IF'
  | 'LANG'
  | 'LCASE'
  | 'MINUTES'
  | 'MONTH'
  | 'REGEX'
  | 'REPLACE'
  | 'ROUND'
  | 'SAMETERM'
  | 'SECONDS'
  | 'STR'
  | 'STRAFTER'
  | 'STRBEFORE'
  | 'STRDT'
  | 'STRENDS'
  | 'STRLEN'
  | 'STRSTARTS'
  | 'SUBSTR'
  | 'UCASE'
  | 'YEAR'

export type SparqlAggregate = 'COUNT' | 'SUM' | 'AVG' | 'MIN' | 'MAX' | 'SAMPLE'

/** Aggregates that SPARQL does not have (rdf/vocab.ts). */
export type LodestoneAggregate = (typeof LODESTONE)[
  | 'sum'
  | 'average'
  | 'minimum'
  | 'maximum'
  | 'countDistinct'
  | 'percentile'
  | 'hull'
  | 'boundingBox']

/** A SPARQL expression (SPARQL 1.1 Query, section 17). */
export type AstExpression =
  | Term
  | Variable
  | {
      readonly type: 'binary'
      readonly operator: SparqlOperator
      readonly left: AstExpression
      readonly right: AstExpression
    }
  | { readonly type: 'not'; readonly operand: AstExpression }
  | { readonly type: 'builtin'; readonly name: BuiltIn; readonly arguments: readonly AstExpression[] }
  | { readonly type: 'function'; readonly iri: string; readonly arguments: readonly AstExpression[] }
  | { readonly type: 'exists'; readonly negated: boolean; readonly patterns: readonly Pattern[] }
  | { readonly type: 'in'; readonly operand: AstExpression; readonly items: readonly AstExpression[] }
  | {
      readonly type: 'aggregate'
      /** An aggregate of SPARQL, or the IRI of one of Lodestone's own. */
      readonly name: SparqlAggregate | LodestoneAggregate
      readonly distinct: boolean
      /** null for COUNT(*). */
      readonly operand: AstExpression | null
      /** Further arguments of one of Lodestone's own. */
      readonly parameters?: readonly (Literal | NamedNode)[]
    }

/** An element of a group graph pattern (SPARQL 1.1 Query, section 18.2.2). */
export type Pattern =
  | { readonly type: 'triple'; readonly subject: Node; readonly predicate: Node; readonly object: Node }
  | { readonly type: 'graph'; readonly graph: NamedNode; readonly patterns: readonly Pattern[] }
  | { readonly type: 'optional' | 'minus'; readonly patterns: readonly Pattern[] }
  | { readonly type: 'union'; readonly branches: readonly (readonly Pattern[])[] }
  | { readonly type: 'filter'; readonly expression: AstExpression }
  | { readonly type: 'bind'; readonly expression: AstExpression; readonly variable: Variable }
  | { readonly type: 'values'; readonly variable: Variable; readonly terms: readonly Term[] }
  /** Inline data of several variables; each row has a term for each of them. */
  | {
      readonly type: 'inlineData'
      readonly variables: readonly Variable[]
      readonly rows: readonly (readonly Term[])[]
    }
  | { readonly type: 'subquery'; readonly query: SelectQuery }

export interface OrderKey {
  readonly expression: AstExpression
  readonly descending: boolean
}

/** A column of a SELECT: a variable, or a named expression. */
export interface Projection {
  readonly variable: Variable
  readonly expression?: AstExpression
}

/** A SELECT query. */
export interface SelectQuery {
  readonly type: 'select'
  readonly distinct?: boolean
  readonly projection: readonly Projection[]
  readonly where: readonly Pattern[]
  readonly groupBy?: readonly Projection[]
  readonly orderBy?: readonly OrderKey[]
  readonly limit?: number
  readonly offset?: number
}

/** A CONSTRUCT query whose template has one or more triple patterns. */
export interface ConstructQuery {
  readonly type: 'construct'
  readonly template: readonly { readonly subject: Node; readonly predicate: Node; readonly object: Node }[]
  readonly where: readonly Pattern[]
  readonly orderBy?: readonly OrderKey[]
  readonly limit?: number
  readonly offset?: number
}

export type AstQuery = SelectQuery | ConstructQuery
