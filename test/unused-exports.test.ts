import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

/**
 * Functions, classes and constants that src exports and no other file names, and types that nothing names. A plain scan of
 * words: it may miss an unused export whose name occurs elsewhere, and never reports one that is imported by its name.
 */
const root = path.resolve(import.meta.dirname, '..')

/** Files whose exports are read by tools or are the generated tables of a parser. */
const GENERATED = /(parser|parser\.terms)\.ts$/

interface Source {
  readonly file: string
  readonly text: string
  readonly words: ReadonlySet<string>
}

t.test('every export is named in another file', async t => {
  const sources = ['src', 'test', 'bin'].flatMap(folder => sourcesIn(folder))
  const files = new Map<string, Set<string>>()
  for (const { file, words } of sources)
    for (const word of words) {
      const known = files.get(word)
      if (known === undefined) files.set(word, new Set([file]))
      else known.add(file)
    }
  const unused = sources
    .filter(({ file }) => file.startsWith('src/') && !GENERATED.test(file))
    .flatMap(({ file, text }) =>
      exportsOf(text)
        .filter(({ name, isType }) =>
          isType
            ? files.get(name)?.size === 1 && text.split(new RegExp(`\\b${name}\\b`)).length < 3
            : files.get(name)?.size === 1,
        )
        .map(({ name }) => `${file}: ${name}`),
    )
  t.same(unused, [], 'remove the export, or the declaration where nothing in its file uses it')
})

/** The names that declarations of a file export. */
function exportsOf(text: string): readonly { readonly name: string; readonly isType: boolean }[] {
  const declared = /^export (?:async )?(function\*?|class|const|let|interface|type) (\w+)/gm
  return [...text.matchAll(declared)].map(([, kind = '', name = '']) => ({
    name,
    isType: kind === 'interface' || kind === 'type',
  }))
}

function sourcesIn(folder: string): readonly Source[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(ts|mts|js|mjs|tsx)$/.test(name) && !name.includes('node_modules'))
    .map(name => {
      const file = path.join(folder, name)
      const text = readFileSync(path.join(root, file), 'utf8')
      return { file, text, words: new Set(text.match(/[A-Za-z_$][\w$]*/g)) }
    })
}
