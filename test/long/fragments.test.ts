/** More cases of test/fragments.test.ts. */
import '../fragments.test.ts'
