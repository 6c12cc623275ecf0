import { ColumnStore, type ColumnStoreOptions } from './column-store.ts'

/** Opens a store of columns: its threads are up when this resolves. */
export async function openColumnStore(options: ColumnStoreOptions): Promise<ColumnStore> {
  const store = new ColumnStore(options)
  await store.start()
  return store
}
