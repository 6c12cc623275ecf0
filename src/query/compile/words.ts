import { wordBucket } from '../../model/search.ts'
import { wordBucketIri } from '../../rdf/iris.ts'
import { INDEX } from '../../rdf/vocab.ts'
import { inGraph, iri, triple, variable } from '../../sparql/build.ts'
import type { Condition, Word } from '../plan.ts'
import { technicalName } from '../technical.ts'
import type { Statement } from './records.ts'
import type { CompileTarget } from './scope.ts'

const BUCKET = variable('bucket')
const POSITIONS = variable('positions')

/** The words that every record which satisfies a condition has as they are, in any of its fields. */
function requiredWords(condition: Condition): readonly string[] {
  switch (condition.type) {
    case 'and':
      return condition.operands.flatMap(requiredWords)
    case 'like':
      // What is told of a record, as its id, is not among its words.
      if (technicalName(condition.field) !== undefined) return []
      return wholeWords(condition.words)
    case 'words':
      return wholeWords(condition.words)
    default:
      return []
  }
}

function wholeWords(words: readonly Word[]): readonly string[] {
  return words.filter(({ mode }) => mode === 'word').flatMap(({ text }) => text.split(' '))
}

/** The buckets of the words that a filter requires; none where nothing is known of words. */
export function bucketsOf(filter: Condition | null, { statistics }: CompileTarget): readonly number[] {
  const { wordBuckets } = statistics
  if (filter === null || wordBuckets === null || wordBuckets === undefined) return []
  return [...new Set(requiredWords(filter).map(word => wordBucket(word, wordBuckets)))]
}

/** The positions of the records that have words of some buckets. */
export function compileBuckets(buckets: readonly number[], target: CompileTarget): Statement {
  return {
    name: 'words',
    reason: 'positions of the records that may have the words',
    query: {
      type: 'select',
      projection: [{ variable: POSITIONS }],
      where: [
        { type: 'values', variable: BUCKET, terms: buckets.map(bucket => iri(wordBucketIri(bucket))) },
        inGraph(target.graphs.index, triple(BUCKET, iri(INDEX.positions), POSITIONS)),
      ],
    },
  }
}
