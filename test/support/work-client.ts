import type { WorkClient } from '../../src/runtime/work-client.ts'

/** A client that has used nothing yet. */
export function workClient(more: Partial<WorkClient> = {}): WorkClient {
  return {
    id: 'address:192.0.2.1',
    usage: () => 0,
    spend: () => undefined,
    isHeavy: () => false,
    isPressing: () => false,
    isOverBudget: () => false,
    offend: () => undefined,
    deadline: milliseconds => milliseconds,
    ...more,
  }
}
