import type { WordOf } from '../../model/words.ts'

/** The position of a node in the text of its option: character offsets, `from` inclusive, `to` exclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Primitive types that a literal can be written in (OData 4.0 URL Conventions 5.1.1.14.1, OData 3.0 literals). */
export type LiteralType =
  | `Edm.${WordOf<'String Boolean Int32 Int64 Decimal Double Date TimeOfDay DateTimeOffset Duration Guid Binary'>}`
  | 'Edm.Geography'
  /** A member of an enumeration: `ns.Type'member'`. */
  | 'Edm.Enum'

export type LogicalOperator = 'or' | 'and'
export type ODataComparison = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod'
export type BinaryOperator = LogicalOperator | ODataComparison | ArithmeticOperator | 'has'

/** One literal. Its value is normalised text, or a boolean or number where the type allows. */
export interface ODataLiteral {
  readonly type: 'literal'
  readonly of: LiteralType
  /**
   * | type | value |
   * |---|---|
   * | Edm.String | the characters, quotes undoubled |
   * | Edm.Boolean | boolean |
   * | Edm.Int32, Int64, Decimal, Double | number: `INF`, `-INF` and `NaN` are Double; `text` has its digits as written, without suffix |
   * | Edm.Date | `YYYY-MM-DD` |
   * | Edm.TimeOfDay | `HH:MM:SS[.f…]` |
   * | Edm.DateTimeOffset | ISO 8601 with seconds and the zone as written (`Z` or `±HH:MM`); of `datetime'…'` without zone, UTC |
   * | Edm.Duration | number of seconds |
   * | Edm.Guid, Edm.Binary | the text between the quotes |
   * | Edm.Geography | WKT without `SRID=…;` |
   * | Edm.Enum | the members between the quotes; the name of the type is in `text` |
   */
  readonly value: string | number | boolean
  readonly text: string
  readonly span: Span
}

/**
 * An expression of OData as written (URL Conventions 5.1.1). Names are not looked up: the resolver decides whether `a` is a
 * property or a variable of a lambda expression, and which expressions are allowed where.
 */
export type Expression =
  | {
      readonly type: 'binary'
      readonly operator: BinaryOperator
      readonly left: Expression
      readonly right: Expression
      readonly span: Span
    }
  | { readonly type: 'not' | 'negate'; readonly operand: Expression; readonly span: Span }
  /** `x in (1,2)` has a list as right operand, `'a' in tags` an expression. */
  | { readonly type: 'in'; readonly left: Expression; readonly right: Expression; readonly span: Span }
  | ODataLiteral
  | { readonly type: 'null'; readonly span: Span }
  /** `a`, `$it`, `$this`, `$root`, or a qualified name. */
  | { readonly type: 'name'; readonly name: string; readonly span: Span }
  /** `of/name`. */
  | { readonly type: 'member'; readonly of: Expression; readonly name: string; readonly span: Span }
  /** `of/any(variable:predicate)`; `any()` has neither variable nor predicate. */
  | {
      readonly type: 'lambda'
      readonly quantifier: 'any' | 'all'
      readonly of: Expression
      readonly variable: string | null
      readonly predicate: Expression | null
      readonly span: Span
    }
  /** `of/$count`, `of/$filter(…)/$count`, `of/$count($filter=…;$search=…)`. */
  | {
      readonly type: 'count'
      readonly of: Expression
      readonly filter: Expression | null
      readonly search: SearchExpression | null
      readonly span: Span
    }
  /** `of/$filter(…)` that is not counted. */
  | { readonly type: 'filtered'; readonly of: Expression; readonly filter: Expression; readonly span: Span }
  /** A canonical function or any other; its name in lower case, `geo.distance` with its prefix. */
  | {
      readonly type: 'call'
      readonly name: string
      readonly arguments: readonly Expression[]
      readonly span: Span
    }
  /** `cast(a,Edm.String)`; without operand the record itself is cast. */
  | {
      readonly type: 'cast' | 'isof'
      readonly operand: Expression | null
      readonly target: string
      readonly span: Span
    }
  /** `@name`, with its @. */
  | { readonly type: 'alias'; readonly name: string; readonly span: Span }
  /** `('a','b')` as operand of `in`, or a JSON array. */
  | { readonly type: 'list'; readonly items: readonly Expression[]; readonly span: Span }
  /** A JSON object. */
  | {
      readonly type: 'object'
      readonly members: readonly { readonly name: string; readonly value: Expression }[]
      readonly span: Span
    }
  /** `case(condition:value,…)`. */
  | {
      readonly type: 'case'
      readonly branches: readonly { readonly when: Expression; readonly then: Expression }[]
      readonly span: Span
    }

/** One key of `$orderby`. */
export interface OrderItem {
  readonly expression: Expression
  readonly descending: boolean
  readonly span: Span
}

/** One item of `$select`: `*`, or a path such as `location/latitude`, with the options in its parentheses. */
export interface SelectItem {
  readonly path: readonly string[]
  readonly options: readonly SelectOption[]
  readonly span: Span
}

/** An option in the parentheses of an item: its name as written, and its text. */
export interface SelectOption {
  readonly name: string
  readonly text: string
  /** What it selects of the values of a collection; null for any other option, and in `$expand`. */
  readonly clause: ElementClause | null
  readonly span: Span
}

/** A selection of the values of a collection, each of which is `$this` (Protocol 4.01, 11.2.5.1); positions are those in its own text. */
export type ElementClause =
  | { readonly type: 'filter'; readonly expression: Expression }
  | { readonly type: 'orderby'; readonly items: readonly OrderItem[] }
  | { readonly type: 'top' | 'skip'; readonly count: number }
  | { readonly type: 'count'; readonly requested: boolean }

/** One computed property: `expression as name`. */
export interface ComputeItem {
  readonly expression: Expression
  readonly name: string
  readonly span: Span
}

/** A search expression (URL Conventions 5.1.7): NOT binds tighter than AND, which may be omitted, AND tighter than OR. */
export type SearchExpression =
  | { readonly type: 'term' | 'phrase'; readonly text: string; readonly span: Span }
  | { readonly type: 'and' | 'or'; readonly operands: readonly SearchExpression[]; readonly span: Span }
  | { readonly type: 'not'; readonly operand: SearchExpression; readonly span: Span }

/** One aggregate of `aggregate(…)`; without operand it counts: `$count as n`. */
export interface AggregateItem {
  readonly operand: Expression | null
  /** `sum`, `min`, `max`, `average`, `countdistinct`, or a custom method by its qualified name. */
  readonly method: string
  readonly name: string
  readonly span: Span
}

/** One step of `$apply` (Data Aggregation 4.0, section 3). */
export type Transformation =
  | { readonly type: 'filter'; readonly expression: Expression; readonly span: Span }
  | { readonly type: 'search'; readonly expression: SearchExpression; readonly span: Span }
  | { readonly type: 'compute'; readonly items: readonly ComputeItem[]; readonly span: Span }
  | { readonly type: 'aggregate'; readonly items: readonly AggregateItem[]; readonly span: Span }
  | {
      readonly type: 'groupby'
      readonly keys: readonly (readonly string[])[]
      /** True for `rollup(…)`. */
      readonly rollup: boolean
      readonly then: readonly Transformation[]
      readonly span: Span
    }
  | { readonly type: 'orderby'; readonly items: readonly OrderItem[]; readonly span: Span }
  | { readonly type: 'top' | 'skip'; readonly count: number; readonly span: Span }
  | {
      readonly type: 'topcount' | 'bottomcount' | 'toppercent' | 'bottompercent' | 'topsum' | 'bottomsum'
      readonly amount: Expression
      readonly by: Expression
      readonly span: Span
    }
  | {
      readonly type: 'concat'
      readonly sequences: readonly (readonly Transformation[])[]
      readonly span: Span
    }
  | { readonly type: 'identity'; readonly span: Span }
  /** Any other transformation, by its name: parsed but not supported. */
  | { readonly type: 'other'; readonly name: string; readonly span: Span }

/** The key of an entity: `('a')` or `(a)` is a single value, `(recordid='a')` names it, `(@k)` is an alias. */
export type KeyPredicate =
  | { readonly type: 'value'; readonly literal: ODataLiteral; readonly span: Span }
  | { readonly type: 'raw'; readonly text: string; readonly span: Span }
  | {
      readonly type: 'named'
      readonly parts: readonly { readonly name: string; readonly value: ODataLiteral | KeyAlias }[]
      readonly span: Span
    }
  | KeyAlias

export interface KeyAlias {
  readonly type: 'alias'
  readonly name: string
  readonly span: Span
}

/** One segment of a resource path (URL Conventions, section 4). */
export type PathSegment =
  /** A name with the key in its parentheses; `()` is an empty key. */
  | {
      readonly type: 'name'
      readonly name: string
      readonly key: KeyPredicate | 'empty' | null
      readonly span: Span
    }
  | {
      readonly type: '$metadata' | '$count' | '$value' | '$ref' | '$all' | '$entity' | '$batch' | '$links'
      readonly span: Span
    }
  | { readonly type: '$crossjoin'; readonly names: readonly string[]; readonly span: Span }
  | { readonly type: '$filter'; readonly expression: Expression; readonly span: Span }
