import { styleTags, tagHighlighter, tags } from '@lezer/highlight'
import { parser } from './parser.ts'

/** The grammar of a condition, its nodes marked for editors with what they are. */
export const conditionParser = parser.configure({
  top: 'WhereClause',
  props: [
    styleTags({
      // Keywords are no nodes: they are what is left of these beside their operands.
      'Or And Not In Is Like Range Distinct': tags.keyword,
      'EqualsOp NotEqualsOp OrderOp CompareOp Arithmetic Sign': tags.keyword,
      'FunctionName/...': tags.function(tags.variableName),
      'Field/...': tags.variableName,
      'Number Unit/...': tags.number,
      'String Date Geometry': tags.string,
      'Boolean Null': tags.keyword,
    }),
  ],
})

/** The classes of tokens, those that source texts have on pages as well. */
export const tokenClasses = tagHighlighter([
  { tag: tags.keyword, class: 't-keyword' },
  { tag: tags.function(tags.variableName), class: 't-name' },
  { tag: tags.variableName, class: 't-variable' },
  { tag: tags.propertyName, class: 't-key' },
  { tag: tags.number, class: 't-number' },
  { tag: tags.string, class: 't-string' },
  { tag: tags.comment, class: 't-comment' },
  { tag: tags.link, class: 't-iri' },
])
