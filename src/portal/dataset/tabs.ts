import { analyzeTab } from './analyze-tab.ts'
import { apiTab } from './api-tab.ts'
import { exportTab } from './export-tab.ts'
import { informationTab } from './information.ts'
import { linkedDataTab } from './linked-data.ts'
import { mapTab } from './map-tab.ts'
import { mappingTab } from './mapping-tab.ts'
import type { Tab } from './tab.ts'
import { tableTab } from './table.ts'
import { versionsTab } from './versions-tab.ts'

/** The views of a dataset, in their order. */
export const TABS: readonly Tab[] = [
  informationTab,
  tableTab,
  mapTab,
  analyzeTab,
  exportTab,
  apiTab,
  linkedDataTab,
  mappingTab(null),
  versionsTab,
]
