/** The tests are in test/support/engines/engine.ts. */
import { testEngine } from '../support/engines/engine.ts'

await testEngine('rdf4j')
