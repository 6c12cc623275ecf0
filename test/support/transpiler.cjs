// Removes types for the test runner, with a cache on disk: each test file is a process that loads much of src.
const { createHash } = require('node:crypto')
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { transformSync, version } = require('esbuild')

const CACHE = path.join(__dirname, '..', '..', '.tap', 'transpiled')

/** A transpiler as ts-node takes it: https://typestrong.org/ts-node/docs/transpilers#third-party-transpilers */
exports.create = () => {
  mkdirSync(CACHE, { recursive: true })
  return { transpile }
}

function transpile(code, { fileName }) {
  const key = createHash('sha256')
    .update(version)
    .update('\0')
    .update(fileName)
    .update('\0')
    .update(code)
    .digest('hex')
  const cached = path.join(CACHE, key)
  try {
    const [sourceMapText, outputText] = splitOnce(readFileSync(cached, 'utf8'))
    return { outputText, sourceMapText }
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  const result = transformSync(code, {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcefile: fileName,
  })
  const own = `${cached}.${process.pid}`
  writeFileSync(own, `${result.map.replaceAll('\n', ' ')}\n${result.code}`)
  renameSync(own, cached)
  return { outputText: result.code, sourceMapText: result.map }
}

function splitOnce(text) {
  const end = text.indexOf('\n')
  return [text.slice(0, end), text.slice(end + 1)]
}
