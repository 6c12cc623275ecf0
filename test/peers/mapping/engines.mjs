import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')
const node = [process.execPath]

/**
 * The engines. `missing` tells why one cannot run here; `command` gives the program that maps to a file, after it has
 * written what else it needs into the folder; `own` finds the seconds that it tells of itself in what it prints.
 */
export const ENGINES = {
  'lodestone, YARRRML': lodestone(format => `${format}.yml`),
  'lodestone, RML': lodestone(format => `${format}-link.ttl`),
  'morph-kgc': {
    // Self-joins are taken out, so the link as it is meant is the fast one.
    peer: 'morph-kgc',
    missing: () =>
      process.env.MORPH_PYTHON === undefined ? 'MORPH_PYTHON names no Python that has it' : null,
    command: (folder, format, output) => {
      const config = path.join(folder, `morph-${format}.ini`)
      writeFileSync(
        config,
        `[CONFIGURATION]\noutput_file: ${output}\noutput_format: N-TRIPLES\nlogging_level: INFO\n\n[Source]\nmappings: ${format}-link.ttl\n`,
      )
      return [process.env.MORPH_PYTHON, '-m', 'morph_kgc', config]
    },
    own: /Materialization finished in ([\d.]+)/,
  },
  rocketrml: {
    peer: 'rocketrml',
    missing: () => {
      try {
        createRequire(import.meta.url).resolve('rocketrml')
        return null
      } catch {
        return 'npm install was not run here'
      }
    },
    command: (_, format, output) => [
      ...node,
      '--max-old-space-size=12000',
      path.join(import.meta.dirname, 'rocketrml.cjs'),
      `${format}-template.ttl`,
      output,
    ],
    own: /mapped in ([\d.]+)/,
  },
  rmlmapper: {
    peer: 'rmlmapper',
    missing: () =>
      existsSync(process.env.RMLMAPPER_CLASSPATH ?? '') ? null : 'RMLMAPPER_CLASSPATH names no file with it',
    command: (_, format, output) => [
      'java',
      '-Xmx12g',
      '-cp',
      readFileSync(process.env.RMLMAPPER_CLASSPATH, 'utf8').trim(),
      'be.ugent.rml.cli.Main',
      '-m',
      `${format}-template.ttl`,
      '-o',
      output,
    ],
    own: null,
  },
}

function lodestone(mapping) {
  return {
    peer: null,
    missing: () => (existsSync(path.join(root, 'dist/cli/lodestone.js')) ? null : 'it is not built'),
    command: (_, format, output) => [
      'bash',
      '-c',
      `exec "$0" "$@" > ${output}`,
      ...node,
      path.join(root, 'bin/lodestone.js'),
      'map',
      mapping(format),
      `places.${format}`,
      '--format',
      'nquads',
    ],
    own: null,
  }
}
