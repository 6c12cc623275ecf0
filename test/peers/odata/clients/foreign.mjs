import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { readJson } from '../portal.mjs'

const home = path.resolve(import.meta.dirname, '..')

/** Thrown where a client is not there: its message says what is missing and how to get it. */
export class Skipped extends Error {}

/** Olingo's Java clients, whose libraries Maven fetches into `olingo/{version}/lib`. */
export const olingo = (version, format) => (base, sets) => {
  const folder = path.join(home, 'olingo', version)
  const libraries = path.join(folder, 'lib')
  const classes = path.join(libraries, 'classes')
  if (!existsSync(libraries))
    throw new Skipped(`mvn -q dependency:copy-dependencies -DoutputDirectory=lib in olingo/${version}`)
  const classpath = [path.join(libraries, '*'), classes].join(path.delimiter)
  mkdirSync(classes, { recursive: true })
  const sources = [path.join(home, 'olingo', 'Lines.java'), path.join(folder, 'Read.java')]
  const compiled = spawnSync('javac', ['-cp', classpath, '-d', classes, ...sources], { encoding: 'utf8' })
  if (compiled.error) throw new Skipped('a JDK with javac is not there')
  if (compiled.status !== 0) throw new Error(compiled.stderr)
  return readLines('java', ['-cp', classpath, 'Read', `${base}/api/odata`, format], sets, version)
}

/** Clients of Python, which PYTHON or python3 has. */
export const python = (script, module, version) => (base, sets) => {
  const program = process.env.PYTHON ?? 'python3'
  if (spawnSync(program, ['-c', `import ${module}`]).status !== 0)
    throw new Skipped(`${program} -m pip install -r python/requirements.txt (PYTHON names another python)`)
  return readLines(program, [path.join(home, 'python', script), `${base}/api/odata`], sets, version)
}

/**
 * Reads lines of JSON, a record each with the name of its set: in 2.0 names are identifiers that begin with a letter, and lists
 * are texts.
 */
async function readLines(program, parameters, sets, version) {
  const nameOf = name =>
    version === 'v2'
      ? name
          .replace(/[^\p{L}\p{N}_]/gu, '_')
          .replace(/^(?=\d)/, '_')
          .replace(/^(?=_)/, 'x')
      : name
  const byName = new Map([...sets].map(([id, comparison]) => [nameOf(id), comparison]))
  const client = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'pipe'] })
  let complaint = ''
  client.stderr.setEncoding('utf8').on('data', text => {
    complaint = (complaint + text).slice(-2000)
  })
  const ended = new Promise(resolve => client.once('close', resolve))
  for await (const line of createInterface({ input: client.stdout })) {
    const [name, record] = readJson(line)
    const comparison = byName.get(name)
    const lists = new Set(comparison?.fields.filter(({ many }) => many).map(field => field.name))
    comparison?.take(record, property => {
      const value = record[nameOf(property)]
      return version === 'v2' && lists.has(property) && value !== undefined ? JSON.parse(value) : value
    })
  }
  if ((await ended) !== 0) throw new Error(complaint)
}
