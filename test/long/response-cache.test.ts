/** More cases of test/response-cache.test.ts. */
import '../response-cache.test.ts'
