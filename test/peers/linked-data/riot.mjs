import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { findEngine, whyMissing } from '../engines/places.mjs'

/** Apache Jena's reader of RDF, which is in the archive of Fuseki. */

/** Why riot cannot be started here; null where it can. */
export function whyNoRiot() {
  return whyMissing('fuseki')
}

/**
 * Reads files of RDF in one process, each by the ending of its name.
 *
 * @param {readonly string[]} files
 * @returns {Promise<{ quads: string, errors: readonly string[] }>} all that they contain as N-Quads, blank nodes of different
 * files apart, and the errors that riot reports; its warnings are of unusual IRIs. Of JSON-LD that it refuses it writes
 * nothing at all
 */
export async function readWithRiot(files) {
  const riot = spawn('java', [
    '-Xmx512m',
    '-cp',
    findEngine('fuseki'),
    'riotcmd.riot',
    '--output=nquads',
    ...files,
  ])
  const [written, log] = await Promise.all([
    text(riot.stdout),
    text(riot.stderr),
    new Promise((resolve, reject) => riot.on('error', reject).on('close', resolve)),
  ])
  // Both streams have messages; a quad begins with an IRI or a blank node.
  const lines = written.split('\n')
  return {
    quads: lines.filter(line => /^(?:<|_:)/.test(line)).join('\n'),
    errors: [...lines, ...log.split('\n')].filter(line => /^[\d:]* ?ERROR\b|^Exception\b/.test(line)),
  }
}
