/**
 * Makes a release of what is checked in: checks version, changelog, work tree and contents of the package, writes the SBOM and
 * packs. `npm run release -- --check` only checks. Exits with 1 and all that is wrong where something is.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

const root = import.meta.dirname
const read = name => readFileSync(path.join(root, name), 'utf8')
const run = (command, ...given) =>
  execFileSync(command, given, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Folders that a package needs. */
const NEEDED = ['bin', 'dist', 'locales', 'mappings', 'data', 'docs']
const TEST = /^test\/|\.test\.[jt]s$/

/** What is wrong with the changelog for a version. */
function changelogProblems(version) {
  const sections = new Map(
    read('CHANGELOG.md')
      .split(/^## /m)
      .slice(1)
      .map(section => {
        const [title = '', ...lines] = section.split('\n')
        return [/^\[?([^\]\s]+)/.exec(title)?.[1], lines.filter(line => /^\s*[^#\s]/.test(line))]
      }),
  )
  return [
    ...(sections.get(version)?.length > 0 ? [] : [`CHANGELOG.md has nothing below "## ${version}"`]),
    ...(sections.get('Unreleased')?.length > 0
      ? [`CHANGELOG.md has changes below "## Unreleased": they belong to ${version}`]
      : []),
  ]
}

/** What is wrong with the work tree. */
function treeProblems() {
  const changed = run('git', 'status', '--porcelain').trim()
  return changed === '' ? [] : [`the work tree has changes that are not checked in:\n${changed}`]
}

/** What is wrong with the contents of the package. */
function packageProblems() {
  const [{ files }] = JSON.parse(run('npm', 'pack', '--dry-run', '--json', '--ignore-scripts'))
  const paths = files.map(file => file.path)
  return [
    ...NEEDED.filter(folder => !paths.some(name => name.startsWith(`${folder}/`))).map(
      folder => `the package has no file in ${folder}/`,
    ),
    ...paths.filter(name => TEST.test(name)).map(name => `the package has a test: ${name}`),
  ]
}

const { name, version } = JSON.parse(read('package.json'))
run('npm', 'run', '--silent', '--if-present', 'build')
const problems = [...changelogProblems(version), ...treeProblems(), ...packageProblems()]
if (problems.length > 0) {
  console.error([`${name} ${version} cannot be released:`, ...problems].join('\n- '))
  process.exit(1)
}
if (process.argv.includes('--check')) console.log(`${name} ${version} can be released`)
else {
  run('npm', 'run', '--silent', 'sbom')
  console.log(run('npm', 'pack', '--ignore-scripts').trim())
}
