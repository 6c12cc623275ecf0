import type { DataFile } from './data-file.ts'
import type { RecordSource } from './source.ts'
import type { Grid } from './tables/grid.ts'

/** A file that is read until a signal is aborted: then reading it throws the reason of the signal. */
export function abortableFile(data: DataFile, signal: AbortSignal | undefined): DataFile {
  return signal === undefined ? data : { ...data, pieces: size => until(signal, data.pieces(size)) }
}

/** See {@link abortableFile}. */
export function abortableGrid(grid: Grid, signal: AbortSignal | undefined): Grid {
  return signal === undefined ? grid : { ...grid, rows: () => until(signal, grid.rows()) }
}

/** See {@link abortableFile}. */
export function abortableRecords(source: RecordSource, signal: AbortSignal | undefined): RecordSource {
  return signal === undefined ? source : { ...source, read: () => until(signal, source.read()) }
}

async function* until<T>(signal: AbortSignal, pieces: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const piece of pieces) {
    signal.throwIfAborted()
    yield piece
  }
}
