import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import {
  BAD_REQUEST,
  Fault,
  FORBIDDEN_ACCESS,
  GONE,
  INTERNAL_ERROR,
  NOT_FOUND_RESOURCE,
  VERSION_UNKNOWN,
} from '../src/errors/errors.ts'
import { TOO_MANY_OPEN_FILES } from '../src/http/faults.ts'
import { TOO_MUCH_WORK } from '../src/http/rate-limit.ts'
import { LANGUAGES, type Language } from '../src/model/language.ts'
import { UPLOAD_SENTENCES, uploadMessage } from '../src/portal/desk/upload-messages.ts'
import { faultSentence } from '../src/site/fault-page.ts'
import { type Message, messagesOf, translator } from '../src/site/page-context.ts'
import { DEADLINE_EXCEEDED } from '../src/store/faults.ts'
import { interfaceTexts } from './support/texts.ts'

/** Every text of the interface is there in every language, whole, and nothing else is. */
const FOLDERS = ['src/portal', 'src/site', 'src/http', 'src/api']
const { texts } = interfaceTexts(FOLDERS)
const known = new Map(texts.map(each => [each.text, each]))
const TRANSLATIONS = LANGUAGES.filter(language => language !== 'en').map(
  language => [language, messagesOf(language)] as const,
)

/** Numbers that texts may be written with; beyond, a form for millions is the usual one. */
const NUMBERS = [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 20, 21, 99, 100, 101, 102, 103, 111, 1000, 135_233]

/** Forms in which a language says how many without the number. */
const WORDED: ReadonlySet<string> = new Set(['zero', 'one', 'two'])

const placeholders = (text: string) =>
  [...text.matchAll(/\{\w+\}/g)]
    .map(([name]) => name)
    .sort()
    .join('')

t.test('one thing has one word', async t => {
  const other = /\blog(?:ged|ging|s)?[- ](?:in|out)\b/i
  t.same(
    texts.map(({ text }) => text).filter(text => other.test(text)),
    [],
    'users sign in and out',
  )
})

t.test('texts are found', async t => {
  t.ok(texts.length > 300, 'many of them')
  for (const text of ['Datasets', 'Best known', 'Table', 'Charts', 'Not found'])
    t.ok(known.has(text), `${text}: in a call, a table or a tab`)
  const records = known.get('{n} records')
  t.equal(records?.one, '{n} record', 'with the form for one')
})

for (const [language, table] of TRANSLATIONS)
  t.test(language, async t => {
    const missing = texts
      .filter(({ text }) => !Object.hasOwn(table, text))
      .map(({ text, at }) => `${at} ${text}`)
    t.same(missing, [], 'nothing is missing')
    const gone = Object.keys(table).filter(text => !known.has(text))
    t.same(gone, [], 'nothing is there that no page says')
    t.same(Object.entries(table).flatMap(wrongIn(language)), [], 'all are whole')
    const same = Object.entries(table).filter(([text, message]) => text.length > 40 && message === text)
    t.same(same, [], 'no sentence is left in English')
  })

t.test('what is wrong is seen', async t => {
  const wrong = wrongIn('ar')
  const few = { one: 'سجل', two: 'سجلان', zero: 'لا', other: '{n} سجل', many: '{n} سجلًا' }
  t.same(wrong(['{n} records', few]), ['{n} records: no form few'])
  t.same(wrong(['{n} records', { ...few, few: 'سجلات' }]), ['{n} records: few has not {n}'])
  t.same(wrong(['{n} records', '{n} سجل']), [
    '{n} records: forms for numbers where there are some, and only there',
  ])
  t.same(wrong(['Datasets', ' ']), ['Datasets: a text that is empty or has blanks around it'])
  t.same(wrong(['{from} to {to} of {total}', '{from} {to}']), [
    '{from} to {to} of {total}: text has not {from}{total}{to}',
  ])
})

/** Says what is wrong with a translation: forms that are missing, placeholders that are lost, blanks. */
function wrongIn(language: string) {
  const rules = new Intl.PluralRules(language)
  const needed = new Set(NUMBERS.map(n => rules.select(n)))
  return ([text, message]: readonly [string, Message]): readonly string[] => {
    const forms = typeof message === 'string' ? { text: message } : message
    const isCounted = known.get(text)?.one !== undefined
    const lost = Object.entries(forms).filter(
      ([category, form]) => !WORDED.has(category) && placeholders(form) !== placeholders(text),
    )
    return [
      ...((typeof message === 'object') === isCounted
        ? []
        : ['forms for numbers where there are some, and only there']),
      ...(typeof message === 'string'
        ? []
        : [...needed].filter(each => message[each] === undefined).map(each => `no form ${each}`)),
      ...lost.map(([category]) => `${category} has not ${placeholders(text)}`),
      ...(Object.values(forms).every(form => form !== '' && form === form.trim())
        ? []
        : ['a text that is empty or has blanks around it']),
    ].map(problem => `${text}: ${problem}`)
  }
}

t.test('pages of errors are in the language of the page', async t => {
  const faults = [
    ...['dataset', 'resource', 'page', 'address'].map(
      kind => new Fault(NOT_FOUND_RESOURCE, { kind, id: 'trees' }),
    ),
    new Fault(VERSION_UNKNOWN, { id: 'trees', version: 'v1', retained: '' }),
    new Fault(GONE, { reason: 'The record was removed.' }),
    new Fault(GONE, { reason: 'The dataset trees was withdrawn.', id: 'trees' }),
    new Fault(FORBIDDEN_ACCESS),
    new Fault(TOO_MUCH_WORK, { seconds: 3 }),
    new Fault(INTERNAL_ERROR),
    new Fault(TOO_MANY_OPEN_FILES),
    new Fault(DEADLINE_EXCEEDED, { seconds: 30 }),
  ]
  const text = (fault: Fault, language: Language) => faultSentence(fault, translator(language)).html
  for (const fault of faults) {
    t.equal(
      new Set(LANGUAGES.map(language => text(fault, language))).size,
      LANGUAGES.length,
      `${fault.code}: a sentence of its own in each`,
    )
  }
  t.equal(text(faults[0] as Fault, 'de'), '<p>Hier gibt es keinen Datensatz trees.</p>')
  const other = new Fault(BAD_REQUEST, { reason: 'No <number>.' })
  t.equal(text(other, 'de'), '<p lang="en" dir="ltr">No &lt;number&gt;.</p>', 'others are marked as English')
})

t.test('messages of uploads are in the language of the page', async t => {
  const shown = (message: string) => uploadMessage(message, translator('de')).html
  t.equal(shown('The file <b>.csv is empty.'), '<p class="lines">Die Datei &lt;b&gt;.csv ist leer.</p>')
  t.equal(
    shown('a.pdf: The file is a PDF.\n  Publish the table that it was made from.'),
    '<p class="lines">a.pdf: Die Datei ist ein PDF.\n  Veröffentlichen Sie die Tabelle, aus der es entstand.</p>',
  )
  t.equal(shown('Another one.'), '<p class="lines" lang="en" dir="ltr">Another one.</p>')
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('upload-messages.ts'))
    .map(name => readFileSync(path.join('src', name), 'utf8'))
    .join('\n')
  const unused = UPLOAD_SENTENCES.filter(text => !text.split(/\{\w+\}/).every(part => sources.includes(part)))
  t.same(unused, [], 'each is written by a reader of files')
})

t.test('numbers choose the form and are written as the language writes them', async t => {
  const records = (language: Language, n: number) => translator(language).many('{n} record', '{n} records', n)
  t.same(
    [0, 1, 2, 5, 11, 100].map(n => records('ar', n)),
    ['لا سجلات', 'سجل واحد', 'سجلان', '5 سجلات', '11 سجلًا', '100 سجل'],
  )
  t.equal(records('de', 135_233), '135.233 Einträge')
  t.equal(records('fr', 0), '0 enregistrement', 'nothing is singular in French')
  t.equal(records('fr', 2_000_000).replace(/\s/g, ' '), '2 000 000 enregistrements')
  t.equal(records('en', 1), '1 record')
  t.equal(
    translator('sv')('A text that nobody translated: {n}', { n: 1 }),
    'A text that nobody translated: 1',
  )
})
