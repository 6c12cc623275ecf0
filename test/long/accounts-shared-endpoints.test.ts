import t from 'tap'
import { temporaryFolder } from '../support/folder.ts'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import { scriptArguments } from '../support/script.ts'

/** What people and programs meet is the same where accounts are in PostgreSQL: the tests of it run with an address. */
t.test('OAuth and account pages behave alike with accounts in PostgreSQL', { skip: noPostgres }, async t => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  for (const file of ['oauth', 'account-pages']) {
    const env = { ...process.env, LONG: '0', TEST_ACCOUNTS: await postgres.database() }
    await t.spawn(
      process.execPath,
      [...scriptArguments(`${file}.test`)],
      { env, cwd: temporaryFolder(t, {}) },
      file,
    )
  }
})
