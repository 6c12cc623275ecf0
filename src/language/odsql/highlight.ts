import { styleTags, tagHighlighter, tags } from '@lezer/highlight'
import { parser } from './parser.ts'

/** The grammar of a condition, with highlighting tags for editors on its nodes. */
export const conditionParser = parser.configure({
  top: 'WhereClause',
  props: [
    styleTags({
      // Keywords are not nodes: they are the text of these nodes outside of their operands.
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

/** The classes of tokens, the same as for source texts on pages. */
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
