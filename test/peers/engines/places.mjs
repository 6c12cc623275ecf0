import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where the programs of the engines are: named by the environment, in PATH, or put into installed/ by install.sh. */

const INSTALLED = join(import.meta.dirname, 'installed')

/** The version of Fuseki that install.sh fetches. */
export const FUSEKI_JAR = 'jena-fuseki-server-5.5.0.jar'

/** A library of RDF4J Server that install.sh fetches with all others. */
const RDF4J_JAR = 'rdf4j-http-server-spring-4.3.14.jar'

/** Names of the engines that can be started here. */
export const ENGINES = ['oxigraph', 'fuseki', 'virtuoso', 'rdf4j']

function inPath(program) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  return folders.map(folder => join(folder, program)).find(path => existsSync(path))
}

function firstThat(places) {
  return places.find(place => place !== undefined && existsSync(place))
}

const places = {
  oxigraph: () => firstThat([process.env.OXIGRAPH, inPath('oxigraph'), join(INSTALLED, 'py/bin/oxigraph')]),
  fuseki: () =>
    inPath('java') &&
    firstThat([process.env.FUSEKI_JAR, join(INSTALLED, FUSEKI_JAR), `/usr/share/java/${FUSEKI_JAR}`]),
  virtuoso: () => inPath('isql-vt') && firstThat([process.env.VIRTUOSO, inPath('virtuoso-t')]),
  rdf4j: () => {
    const folder = process.env.RDF4J ?? join(INSTALLED, 'rdf4j')
    return inPath('java') && existsSync(join(folder, RDF4J_JAR)) ? folder : undefined
  },
}

const missing = {
  oxigraph: 'there is no Oxigraph server: set OXIGRAPH, or run test/peers/engines/install.sh',
  fuseki: 'there is no Fuseki, or no Java: set FUSEKI_JAR, or run test/peers/engines/install.sh',
  virtuoso:
    'there is no Virtuoso: apt-get install virtuoso-opensource-7-bin, or run test/peers/engines/install.sh',
  rdf4j: 'there is no RDF4J, or no Java: set RDF4J to its libraries, or run test/peers/engines/install.sh',
}

/** The program of an engine, or null where it is not installed. */
export function findEngine(name) {
  return places[name]?.() ?? null
}

/** Why an engine cannot be started here; null where it can. */
export function whyMissing(name) {
  if (!ENGINES.includes(name)) return `there is no engine ${name}; there are ${ENGINES.join(', ')}`
  return findEngine(name) === null ? missing[name] : null
}
