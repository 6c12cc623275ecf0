import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from './support/folder.ts'

/** `npm run release`, over a small package of its own. */

const ROOT = path.resolve(import.meta.dirname, '..')
const { sbom } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).scripts
const RELEASED = '# Changelog\n\n## Unreleased\n\n## 1.2.0\n\n### Added\n\n- Everything.\n'

const folder = temporaryFolder(t, {
  'package.json': JSON.stringify({
    name: 'small',
    version: '1.2.0',
    license: 'MIT',
    files: ['bin', 'dist', 'locales', 'mappings', 'data', 'docs'],
    scripts: { sbom, release: 'node release.js' },
  }),
  'package-lock.json': JSON.stringify({
    name: 'small',
    version: '1.2.0',
    lockfileVersion: 3,
    packages: { '': { name: 'small', version: '1.2.0', license: 'MIT' } },
  }),
  '.gitignore': 'sbom.cdx.json\n*.tgz\n',
  'CHANGELOG.md': RELEASED,
  bin: { 'small.js': '' },
  dist: { 'main.js': '' },
  locales: { 'de.json': '{}' },
  mappings: { 'a.yml': '' },
  data: { 'a.csv': '' },
  docs: { 'a.md': '' },
})
const at = (name: string) => path.join(folder, name)
copyFileSync(path.join(ROOT, 'release.js'), at('release.js'))
const git = (...given: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...given], { cwd: folder })
const checkIn = () => {
  git('add', '-A')
  git('commit', '-qm', 'State')
}
const release = (...given: string[]) => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'release', '--', ...given], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}
git('init', '-q')
checkIn()

t.test('a release is checked, described and packed', async t => {
  t.match(release('--check'), { status: 0, stdout: 'small 1.2.0 can be released\n' })
  t.notOk(existsSync(at('sbom.cdx.json')), 'it was only checked')
  t.match(release(), { status: 0, stdout: 'small-1.2.0.tgz\n' })
  t.ok(existsSync(at('small-1.2.0.tgz')))
  t.match(JSON.parse(readFileSync(at('sbom.cdx.json'), 'utf8')), { bomFormat: 'CycloneDX' })
})

t.test('all that is wrong is reported, and nothing is made', async t => {
  rmSync(at('small-1.2.0.tgz'))
  rmSync(at('locales'), { recursive: true })
  writeFileSync(at('dist/main.test.js'), '')
  writeFileSync(
    at('CHANGELOG.md'),
    RELEASED.replace('1.2.0', '1.1.0').replace('Unreleased\n', '$&\n- News.\n'),
  )
  checkIn()
  writeFileSync(at('data/a.csv'), 'a\n')
  const { status, stderr } = release()
  t.equal(status, 1)
  for (const problem of [
    'CHANGELOG.md has nothing below "## 1.2.0"',
    'CHANGELOG.md has changes below "## Unreleased"',
    'M data/a.csv',
    'the package has no file in locales/',
    'the package has a test: dist/main.test.js',
  ])
    t.ok(stderr.includes(problem), problem)
  t.notOk(existsSync(at('small-1.2.0.tgz')))
})
