import path from 'node:path'
import t from 'tap'
import { noPostgres, startPostgres } from '../support/postgres.ts'

/** What people and programs meet is the same where accounts are in PostgreSQL: the tests of it run with an address. */
t.test('with PostgreSQL', { skip: noPostgres }, async t => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  for (const file of ['oauth', 'account-pages']) {
    const env = { ...process.env, TEST_ACCOUNTS: await postgres.database() }
    const script = path.join(import.meta.dirname, `../${file}.test.ts`)
    await t.spawn(process.execPath, ['--import=tsx', script], { env }, file)
  }
})
