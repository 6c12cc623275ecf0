/** More cases of test/many-graphs.test.ts. */
import '../many-graphs.test.ts'
