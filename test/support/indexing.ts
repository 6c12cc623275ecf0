import path from 'node:path'
import ts from 'typescript'

/** A place where an object is asked for, or given, a member whose name may be any text. */
export interface OpenIndex {
  readonly file: string
  /** 1-based. */
  readonly line: number
  readonly text: string
}

/** The one file that may: what it has asks for own members alone. */
const EXEMPT = path.join('src', 'model', 'lookup.ts')

/**
 * Finds where sources index objects by texts that are not known beforehand, by what the types say: `table[name]`, also of an
 * array, `name in table` and `const { [name]: value } = table`, where `name` is a string and not one of a few literals. An
 * assertion that it is one of these (`name as keyof typeof TABLE`) is not believed. Such a name may come from outside, and
 * every object answers to `constructor` and `__proto__`; `lookup` and `setMember` of src/model/lookup.ts do not.
 *
 * @param names files of the project, those of src/ unless told
 */
export function openIndexes(root: string, names?: readonly string[]): readonly OpenIndex[] {
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const sources = names ?? fileNames.filter(name => name.startsWith(path.join(root, 'src') + path.sep))
  const program = ts.createProgram({ rootNames: [...sources], options: { ...options, noEmit: true } })
  const checker = program.getTypeChecker()
  const isOpenText = (type: ts.Type): boolean => {
    if (type.isUnionOrIntersection()) return type.types.some(isOpenText)
    if (type.flags & ts.TypeFlags.TypeParameter)
      return isOpenText(checker.getBaseConstraintOfType(type) ?? checker.getAnyType())
    return (type.flags & OPEN) !== 0
  }
  const isOpen = (expression: ts.Expression): boolean =>
    isOpenText(checker.getTypeAtLocation(expression)) ||
    (isAsserted(expression) && isOpen(expression.expression))
  const found: OpenIndex[] = []
  for (const name of sources) {
    const file = program.getSourceFile(name)
    if (file === undefined) throw new Error(`${name} is no source`)
    if (path.relative(root, name) === EXEMPT) continue
    const visit = (node: ts.Node): void => {
      const key = keyOf(node)
      if (key !== undefined && isOpen(key)) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart(file))
        const text = node.getText(file).replace(/\s+/g, ' ').slice(0, 100)
        found.push({ file: path.relative(root, name), line: line + 1, text })
      }
      ts.forEachChild(node, visit)
    }
    visit(file)
  }
  return found
}

const OPEN =
  ts.TypeFlags.String |
  ts.TypeFlags.TemplateLiteral |
  ts.TypeFlags.StringMapping |
  ts.TypeFlags.Any |
  ts.TypeFlags.Unknown

/** The expression by which a node names a member of an object, if it does. */
function keyOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isElementAccessExpression(node)) return node.argumentExpression
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword)
    return ts.isPrivateIdentifier(node.left) ? undefined : node.left
  if (!ts.isComputedPropertyName(node)) return undefined
  const isTaken = ts.isBindingElement(node.parent) || isTarget(node.parent.parent)
  return isTaken ? node.expression : undefined
}

/** True for an object literal that is assigned to: `({ [name]: value } = table)`. */
function isTarget(node: ts.Node): boolean {
  return ts.isBinaryExpression(node.parent) && node.parent.left === node
}

function isAsserted(
  node: ts.Expression,
): node is ts.AsExpression | ts.ParenthesizedExpression | ts.NonNullExpression | ts.SatisfiesExpression {
  return (
    ts.isAsExpression(node) ||
    ts.isParenthesizedExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isSatisfiesExpression(node)
  )
}
