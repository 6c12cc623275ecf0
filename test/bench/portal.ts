import { publishAll } from '../../src/publishing/publish-all.ts'
import { versionsOf, withdraw } from '../../src/publishing/versions/versions.ts'
import { BASE, type BenchPortal, serveOnce } from './support.ts'
import { type Row, under, whole } from './table.ts'

/** Publication and start of the whole demonstration portal, with the peak of memory. */
export async function benchPortal({ folder }: BenchPortal): Promise<readonly Row[]> {
  const first = await serveOnce(folder)
  const again = await serveOnce(folder)
  withdraw(versionsOf(folder), 'cities')
  let cities = 0
  await publishAll({ portal: folder, base: BASE, now: () => new Date() }, ['cities'], message => {
    if (message.type === 'published') cities = message.report.records / (message.report.milliseconds / 1000)
  })
  return [
    { what: 'publish: cities', value: `${whole(cities)} records/s` },
    under('first publication and start', first.seconds, 60, 's'),
    under('restart, nothing changed', again.seconds, 10, 's'),
    memory('peak memory, first publication', first.peak),
    memory('peak memory, restart', again.peak),
  ]
}

function memory(what: string, megabytes: number | null): Row {
  if (megabytes === null) return { what, value: 'skipped: the system does not tell' }
  return under(what, megabytes, 2500, 'MB', 0)
}
