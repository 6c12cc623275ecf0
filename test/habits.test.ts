import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { temporaryFolder } from './support/folder.ts'

/** Habits that no linter knows. Of src: no silent rejection, one way to be private, short files and functions; of tests: to be short. */

const SOURCE = path.resolve(import.meta.dirname, '../src')
const GENERATED = /(?:parser|parser\.terms|\.d)\.ts$/
const ISLANDS = /^portal\/islands\//

/** Lines of a file and of a function that need no reason. */
const [FILE_LINES, FUNCTION_LINES] = [300, 60]

/** Lines of a test, where a table and a test within it count as one. */
const TEST_LINES = 60

interface Reason {
  /** Lines at most. */
  readonly lines: number
  readonly reason: string
}

/** What is longer, with its reason: files by their paths, functions by path and name. */
const LONGER: Readonly<Record<string, Reason>> = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'habits.json'), 'utf8'),
)

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts') && !GENERATED.test(name))
  .map(name => ({
    name: name.replaceAll(path.sep, '/'),
    text: readFileSync(path.join(SOURCE, name), 'utf8'),
  }))
  .map(({ name, text }) => ({ name, text, ...habitsOf(text) }))

t.test('no rejection is silent: ignoreRejection has the reason', async t => {
  const found = files
    .filter(({ name }) => !ISLANDS.test(name) && name !== 'errors/ignore-rejection.ts')
    .flatMap(({ name, silent }) => silent.map(line => `${name}:${line}`))
  t.same(found, [], 'say why nobody misses it, log it, or let it pass on')
  const sample = [
    'a.catch(() => undefined)',
    'a.catch(() => {})',
    'a.catch(_ => null)',
    'a.then(b, () => [])',
    'a.catch(error => log(error))',
    'a.catch(() => this.jobs.delete(entry))',
    'const drop = () => undefined',
  ]
  t.same(habitsOf(sample.join('\n')).silent, [1, 2, 3, 4], 'they are found')
})

t.test(
  'what ends after a time is aborted by abortAfter: timeouts of the platform are lost among other signals',
  t => {
    const found = files.filter(
      ({ name, text }) => !ISLANDS.test(name) && text.includes('AbortSignal.timeout('),
    )
    t.same(
      found.map(({ name }) => name),
      [],
      'runtime/abort-after.ts says why',
    )
    t.end()
  },
)

t.test('commands write through cli/print.ts, which escapes control characters of foreign texts', async t => {
  const found = files.filter(
    ({ name, text }) => /^cli\//.test(name) && /process\.std(?:out|err)\.write\(/.test(text),
  )
  t.same(
    found.map(({ name }) => name),
    ['cli/print.ts'],
  )
})

t.test('members are private by the keyword', async t => {
  const found = files.filter(({ hashes }) => hashes > 0)
  t.same(
    found.map(({ name }) => name),
    [],
    '`private`, not `#`',
  )
  t.equal(habitsOf('class A { #b = 1; private c = 2 }').hashes, 1)
})

t.test(`files have at most ${FILE_LINES} lines, functions ${FUNCTION_LINES}, or a reason`, async t => {
  const long = new Map<string, number>()
  for (const { name, lines, functions } of files) {
    if (lines > FILE_LINES) long.set(name, lines)
    for (const [called, length] of functions)
      if (length > FUNCTION_LINES) long.set(`${name} ${called}`, length)
  }
  const unexplained = [...long].filter(([what, lines]) => lines > (LONGER[what]?.lines ?? 0))
  t.same(unexplained, [], 'split them, or say in test/habits.json why they are one')
  const outdated = Object.keys(LONGER).filter(what => !long.has(what))
  t.same(outdated, [], 'what is short needs no reason any more')
  for (const [what, { reason }] of Object.entries(LONGER)) t.match(reason, /^[A-Z`].{20,}\.$/, what)
  const sample = `function f() {\n${'  g()\n'.repeat(70)}}\nclass A {\n  b = () => {\n${'    g()\n'.repeat(61)}  }\n}`
  t.same(Object.fromEntries(habitsOf(sample).functions), { f: 72, 'A.b': 63 }, 'they are found')
})

const testFiles = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .map(name => name.replaceAll(path.sep, '/'))
  .filter(name => name.endsWith('.ts') && !/^peers\/|(?:^|\/)node_modules\//.test(name))
  .map(name => ({ name, text: readFileSync(path.join(import.meta.dirname, name), 'utf8') }))

t.test('folders of tests are removed once what writes to them is closed', async t => {
  const found = testFiles.filter(({ text }) => /\bt\.testdir\(/.test(text)).map(({ name }) => name)
  t.same(found, ['support/folder.ts'], '`temporaryFolder(t, files)`, not `t.testdir`')
  let exists: boolean | null = null
  let folder = ''
  await t.test('a test with a folder', async t => {
    folder = temporaryFolder(t, { file: '' })
    t.teardown(() => {
      exists = existsSync(folder)
    })
  })
  t.same({ whileClosed: exists, after: existsSync(folder) }, { whileClosed: true, after: false })
})

t.test(`tests have at most ${TEST_LINES} lines but tables`, async t => {
  const found = testFiles
    .filter(({ name }) => name.endsWith('.test.ts'))
    .flatMap(({ name, text }) => testsOf(text).map(([title, lines]) => [`${name}: ${title}`, lines] as const))
  t.ok(found.length > 800, `${found.length} tests are read`)
  const long = found.filter(([, lines]) => lines > TEST_LINES)
  t.same(long, [], 'split them, so that each says one thing')
  const calls = (count: number) => '  t.ok(a)\n'.repeat(count)
  const sample = [
    `t.test('long', async t => {\n${calls(60)}})`,
    `t.test('table', { timeout: 9 }, t => {\n  const b = [\n${'    1,\n'.repeat(70)}  ]\n})`,
    `t.test('parent', async t => {\n  await t.test('inner', async t => {\n${calls(61)}  })\n${calls(5)}})`,
  ]
  const expected = [
    ['long', 62],
    ['table', 3],
    ['parent', 8],
    ['inner', 63],
  ]
  t.same(testsOf(sample.join('\n')), expected, 'they are found')
})

interface Habits {
  /** Lines on which a rejection is made nothing of. */
  readonly silent: readonly number[]
  /** Names with `#`. */
  readonly hashes: number
  readonly lines: number
  /** Functions that have a name, with their lines. */
  readonly functions: readonly (readonly [name: string, lines: number])[]
}

function habitsOf(text: string): Habits {
  const file = ts.createSourceFile('habits.ts', text, ts.ScriptTarget.Latest, true)
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1
  const silent: number[] = []
  const functions: [string, number][] = []
  let hashes = 0
  const visit = (node: ts.Node): void => {
    if (ts.isPrivateIdentifier(node)) hashes += 1
    if (ts.isCallExpression(node) && isSilent(node)) silent.push(lineOf(node.getStart()))
    const name = ts.isFunctionLike(node) ? nameOf(node) : null
    if (name !== null) functions.push([name, lineOf(node.getEnd()) - lineOf(node.getStart()) + 1])
    ts.forEachChild(node, visit)
  }
  visit(file)
  return { silent, hashes, lines: text.split('\n').length - 1, functions }
}

/** Whether a call takes rejections and makes nothing of them: `.catch(() => undefined)`, `.then(x, () => null)`. */
function isSilent({ expression, arguments: given }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(expression)) return false
  const { text } = expression.name
  const handler = text === 'catch' ? given[0] : text === 'then' ? given[1] : undefined
  if (handler === undefined || !ts.isArrowFunction(handler)) return false
  const { body } = handler
  if (ts.isBlock(body)) return body.statements.length === 0
  const value = ts.isParenthesizedExpression(body) ? body.expression : body
  return /^(?:undefined|null|true|false|-?\d+|'[^']*'|\[\]|\{\})$/.test(value.getText())
}

/** The name of a function, of a method with its class; null for one that has none. */
function nameOf(node: ts.SignatureDeclaration): string | null {
  const { parent } = node
  const isMember = ts.isPropertyDeclaration(parent) || ts.isPropertyAssignment(parent)
  const named = isMember || ts.isVariableDeclaration(parent) ? parent : node
  const name = ts.isConstructorDeclaration(node) ? 'constructor' : (named.name?.getText() ?? null)
  if (name === null) return null
  const owner = named.parent
  return ts.isClassLike(owner) ? `${owner.name?.text ?? ''}.${name}` : name
}

/** The tests of a file with their lines, where a table (a literal of more than four lines) and a test within count as one. */
function testsOf(text: string): readonly (readonly [title: string, lines: number])[] {
  const file = ts.createSourceFile('tests.ts', text, ts.ScriptTarget.Latest, true)
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line
  const linesAfterFirst = (node: ts.Node) => lineOf(node.getEnd()) - lineOf(node.getStart())
  const uncounted = (node: ts.Node): number => {
    let lines = 0
    ts.forEachChild(node, child => {
      const after = linesAfterFirst(child)
      lines += (isTable(child) && after > 3) || bodyOfTest(child) !== null ? after : uncounted(child)
    })
    return lines
  }
  const tests: [string, number][] = []
  const visit = (node: ts.Node): void => {
    const body = bodyOfTest(node)
    if (body !== null) {
      const [title] = (node as ts.CallExpression).arguments
      const name = title !== undefined && ts.isStringLiteral(title) ? title.text : (title?.getText() ?? '')
      tests.push([name, linesAfterFirst(body) + 1 - uncounted(body)])
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return tests
}

function isTable(node: ts.Node): boolean {
  const isTemplate = ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)
  return isTemplate || ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node)
}

/** The function of `t.test(…)`, `t.only(…)` or `t.skip(…)`; null for all other nodes. */
function bodyOfTest(node: ts.Node): ts.Node | null {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return null
  if (!['test', 'only', 'skip'].includes(node.expression.name.text)) return null
  return node.arguments.find(each => ts.isArrowFunction(each) || ts.isFunctionExpression(each)) ?? null
}
