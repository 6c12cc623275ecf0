import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'

/** A text of the interface, as the code has it in English. */
export interface InterfaceText {
  readonly text: string
  /** That of one thing, where the text depends on a number. */
  readonly one?: string
  /** File and line. */
  readonly at: string
}

/**
 * Finds the texts of the interface: literals of `t('…')` and `t.many('…', '…')`, those that `messageKey('…')` marks in
 * tables, and the labels of the tabs of a dataset.
 *
 * @param folders below which all TypeScript is read
 * @returns the texts, and the calls whose text stands elsewhere
 */
export function interfaceTexts(folders: readonly string[]): {
  readonly texts: readonly InterfaceText[]
  readonly elsewhere: readonly string[]
} {
  const texts: InterfaceText[] = []
  const elsewhere: string[] = []
  const files = folders.flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => path.join(folder, name)),
  )
  for (const file of files) {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
    const placeOf = (node: ts.Node) =>
      `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit)
      if (ts.isPropertyAssignment(node) && isTabLabel(node, file))
        texts.push(
          ...literals(node.initializer)
            .filter(text => text !== '')
            .map(text => ({ text, at: placeOf(node) })),
        )
      if (!ts.isCallExpression(node)) return
      const [first, second] = node.arguments
      const at = placeOf(node)
      if (first !== undefined && /^(?!this)(?:[\w.]+\.)?(?:t|messageKey)$/.test(node.expression.getText())) {
        // Writers of triples have a function of the same name, whose texts begin blank nodes.
        const found = literals(first).filter(text => text !== '' && !text.startsWith('_:'))
        if (found.length === 0 && node.arguments.length === 1) elsewhere.push(`${at} ${node.getText()}`)
        texts.push(...found.map(text => ({ text, at })))
      }
      if (first !== undefined && second !== undefined && /(?:^|\.)t\.many$/.test(node.expression.getText())) {
        const [ones, others] = [literals(first), literals(second)]
        others.forEach((text, index) => {
          texts.push({ text, one: ones[index] ?? '', at })
        })
        if (others.length === 0) elsewhere.push(`${at} ${node.getText()}`)
      }
    }
    visit(source)
  }
  return { texts, elsewhere }
}

function isTabLabel({ name }: ts.PropertyAssignment, file: string): boolean {
  return name.getText() === 'label' && /portal\/dataset\/[\w-]*\.ts$/.test(file)
}

/** The literals that an expression may be: both of a condition. */
function literals(node: ts.Expression): readonly string[] {
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isConditionalExpression(node)) return [...literals(node.whenTrue), ...literals(node.whenFalse)]
  if (ts.isParenthesizedExpression(node)) return literals(node.expression)
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [literals(node.left), literals(node.right)]
    return left.length === 1 && right.length === 1 ? [`${left[0]}${right[0]}`] : []
  }
  return []
}
