import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { declareFault, Fault, isFault, recoded } from '../src/errors/errors.ts'

/** What src declares as faults: each has a code and a name of its own and is thrown, and nothing spells its code again. */

const SOURCE = path.resolve(import.meta.dirname, '../src')
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => ({
    name: name.replaceAll(path.sep, '/'),
    text: readFileSync(path.join(SOURCE, name), 'utf8'),
  }))

interface Declaration {
  readonly name: string
  readonly code: string
  readonly file: string
}

const DECLARATION = /^export const ([A-Z_]+) = declareFault\(\s*'(\w+)'/gm

const declarations: readonly Declaration[] = files.flatMap(({ name: file, text }) =>
  [...text.matchAll(DECLARATION)].map(([, name = '', code = '']) => ({ name, code, file })),
)

t.test('each fault is declared once, by a constant that has the name of its code', async t => {
  const found = files.flatMap(({ text }) => [...text.matchAll(/\bdeclareFault\(/g)])
  t.equal(declarations.length, found.length, 'every declaration is found')
  t.ok(declarations.length > 40)
  const codes = declarations.map(({ code }) => code)
  t.same(
    codes.filter((code, index) => codes.indexOf(code) !== index),
    [],
    'no two have one code',
  )
  t.same(
    declarations.filter(({ name, code }) => name.replaceAll('_', '') !== code.toUpperCase()),
    [],
  )
})

t.test('each fault that is declared is thrown', async t => {
  const thrown = new Set(files.flatMap(({ text }) => thrownIn(text)))
  t.same(
    declarations.filter(({ name }) => !thrown.has(name)),
    [],
    'delete what nobody throws',
  )
  const sample =
    'throw new Fault(A, { b })\nif (isFault(error, B)) throw recoded(error, C)\nconst d = [D, E.code]'
  t.same(thrownIn(sample), ['A', 'C'], 'who only knows a fault does not throw it')
})

t.test('codes are compared by what is declared', async t => {
  const codes = declarations.map(({ code }) => code).join('|')
  const spelt = new RegExp(`(?<!declareFault\\(\\s*)(['"\`])(?:${codes})\\1`, 'g')
  const found = files.flatMap(({ name, text }) =>
    [...text.matchAll(spelt)].map(([code]) => `${name}: ${code}`),
  )
  t.same(found, [], 'isFault, or the code of the constant: a text may be mistyped')
})

t.test('a fault has what was declared', async t => {
  const lost = declareFault('Lost', 404, 'The {what} is lost. {what}{nothing}', { isCounted: false })
  const cause = new Error('why')
  const fault = new Fault(
    lost,
    { what: 'key', nothing: '' },
    { place: { line: 2 }, hint: 'Look again.', cause },
  )
  t.match(fault, {
    name: 'Fault',
    code: 'Lost',
    status: 404,
    isCounted: false,
    message: 'The key is lost. key',
    place: { line: 2 },
    hint: 'Look again.',
    cause,
  })
  const other = declareFault('Other', 400, 'No {what}')
  t.ok(isFault(fault, other, lost))
  t.notOk(isFault(fault, other))
  t.notOk(isFault({ code: 'Lost' }, lost), 'of faults alone')
  t.match(recoded(fault, other), {
    code: 'Other',
    status: 400,
    message: 'No key',
    hint: 'Look again.',
    cause: fault,
  })
  t.match(recoded(fault, other, { hint: 'Ask.' }), { hint: 'Ask.', place: { line: 2 } })
  // @ts-expect-error what the message needs is missing
  t.equal(new Fault(other, { when: 1 }).message, 'No ')
  // @ts-expect-error the same
  t.equal(new Fault(other).message, 'No ')
  t.equal(new Fault(declareFault('Whole', 400, 'Whole.')).message, 'Whole.')
})

/** The constants that are given to `new Fault`, or to a function that makes a fault of them. */
function thrownIn(text: string): readonly string[] {
  if (!text.includes('Fault')) return []
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    const isMade = ts.isNewExpression(node) || ts.isCallExpression(node)
    if (isMade && !(ts.isIdentifier(node.expression) && node.expression.text === 'isFault'))
      for (const given of node.arguments ?? []) if (ts.isIdentifier(given)) names.push(given.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('faults.ts', text, ts.ScriptTarget.Latest))
  return names.filter(name => /^[A-Z_]+$/.test(name))
}
