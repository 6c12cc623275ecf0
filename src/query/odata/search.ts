import type { SearchExpression } from '../../language/odata/ast.ts'
import { searchWords } from '../../model/search.ts'
import { conjunction, disjunction, negate } from '../conditions.ts'
import { ALWAYS, type Condition, type Word } from '../plan.ts'
import { type Scope, withinScope, wrong } from './scope.ts'

/** Words of all terms of one search. */
const MAX_WORDS = 100

/**
 * Returns the condition of a search (URL Conventions 5.1.7): whole words anywhere in a record, compared without case and accents;
 * the words of a phrase are adjacent. A term without letters or digits restricts nothing.
 */
export function searchCondition(node: SearchExpression, scope: Scope): Condition {
  const words = { count: 0 }
  return resolve(node, scope, words)
}

function resolve(node: SearchExpression, outer: Scope, words: { count: number }): Condition {
  const scope = withinScope(outer, { type: 'null', span: node.span })
  switch (node.type) {
    case 'term':
    case 'phrase': {
      const folded = searchWords(node.text)
      words.count += folded.length
      if (words.count > MAX_WORDS) throw wrong(scope, `A search has at most ${MAX_WORDS} words`, node.span)
      if (folded.length === 0) return ALWAYS
      const texts = node.type === 'phrase' ? [folded.join(' ')] : folded
      return { type: 'words', words: texts.map((text): Word => ({ text, mode: 'word' })) }
    }
    case 'and':
      return conjunction(node.operands.map(operand => resolve(operand, scope, words)))
    case 'or':
      return disjunction(node.operands.map(operand => resolve(operand, scope, words)))
    case 'not':
      return negate(resolve(node.operand, scope, words))
  }
}
