import { testEngine } from '../support/engines/engine.ts'

await testEngine('rdf4j')
