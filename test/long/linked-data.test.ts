/** More cases of test/linked-data.test.ts. */
import '../linked-data.test.ts'
