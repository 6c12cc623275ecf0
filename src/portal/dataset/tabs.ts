import { informationTab } from './information.ts'
import type { Tab } from './tab.ts'
import { tableTab } from './table.ts'

/** The views of a dataset, in their order. */
export const TABS: readonly Tab[] = [informationTab, tableTab]
