import { parseExactly } from '../model/exact-json.ts'
import { cutValues, type StepTest } from './json-cutter.ts'
import type { JsonPath, PathStep } from './json-path.ts'
import type { TextFile } from './text.ts'

/**
 * Reads the values at a path of a JSON file one by one, however long the file is, a batch for each piece of its text. Integers
 * beyond the precision of numbers are bigints. Throws SourceUnreadable with line and column for malformed JSON anywhere in the
 * file.
 */
export async function* readSelected(file: TextFile, path: JsonPath): AsyncGenerator<readonly unknown[]> {
  for await (const values of cutValues(file, path.map(testOf)))
    yield values.map(({ text }) => parseExactly(text))
}

function testOf(step: PathStep): StepTest {
  switch (step.type) {
    case 'all':
      return () => true
    case 'index':
      return index => index === step.index
    case 'name':
      return (index, name) => index === undefined && name === step.name
  }
}
