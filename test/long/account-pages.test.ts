/** More cases of test/account-pages.test.ts. */
import '../account-pages.test.ts'
