import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { replaceCached } from '../publishing/versions/durable.ts'

/** Counted kinds of use: of a dataset's pages and queries, of its exports, of its attachments. */
export type CallKind = 'call' | 'download' | 'attachment'

/** Requests of a dataset by kind. */
export type UsageCounts = Readonly<Record<CallKind, number>>

/** A call of an API in the monitoring; its keys are fields of ods-api-monitoring (REST 7.3). */
export interface CountedUse {
  /** Canonical moment in UTC. */
  readonly timestamp: string
  /** Without its last part, so that it identifies no one. */
  readonly user_ip_addr: string | null
  readonly user_id: string | null
  readonly dataset_id: string | null
  readonly api: string | null
  readonly api_type: string
  /** Without credentials. */
  readonly query_string: string | null
  readonly custom_attributes: string | null
  readonly format: string | null
  /** Bytes. */
  readonly size_res: number | null
  readonly nhits: number | null
  /** Milliseconds. */
  readonly exec_time: number
  readonly request_aborted: boolean
  readonly facet: readonly string[] | null
  readonly in_error: boolean
  readonly error: string | null
  readonly attachment_id: string | null
  readonly user_agent: string | null
  readonly referer: string | null
  readonly bot: boolean
}

/** A recorded call: its report is computed on demand. */
export interface NotedCall {
  counted(): CountedUse
}

export interface UsageOptions {
  /** The file in which the counts persist between runs. */
  readonly file: string
  /** Maximum number of calls that are recorded individually. */
  readonly calls?: number
  /** Maximum number of datasets that are counted. */
  readonly datasets?: number
  /** Minimum milliseconds between two writes of the file. */
  readonly every?: number
}

const UNUSED: UsageCounts = { call: 0, download: 0, attachment: 0 }

/**
 * Counts the calls of each dataset and records the latest ones. The counts outlive the process: the file is replaced by a rename
 * periodically while they change, and at the end.
 */
export class Usage {
  private readonly options: Required<UsageOptions>
  private readonly counted: Map<string, Record<CallKind, number>>
  private readonly ring: NotedCall[] = []
  private next = 0
  private visible = 0
  private changes = 0
  private written = 0
  private timer: NodeJS.Timeout | null = null

  constructor(options: UsageOptions) {
    this.options = { calls: 2000, datasets: 10_000, every: 30_000, ...options }
    this.counted = readCounts(this.options.file, this.options.datasets)
  }

  /** Records a call. */
  remember(call: NotedCall): void {
    this.ring[this.next] = call
    this.next = (this.next + 1) % this.options.calls
    this.visible += 1
  }

  /** Counts a successful call. */
  count(dataset: string, kind: CallKind): void {
    let counts = this.counted.get(dataset)
    if (counts === undefined) {
      if (this.counted.size >= this.options.datasets) return
      counts = { ...UNUSED }
      this.counted.set(dataset, counts)
    }
    counts[kind] += 1
    this.changes += 1
    this.writeLater()
  }

  /** The number of requests of a dataset. */
  counts(dataset: string): UsageCounts {
    return { ...(this.counted.get(dataset) ?? UNUSED) }
  }

  /** The recorded calls, the oldest first. */
  calls(): readonly CountedUse[] {
    return [...this.ring.slice(this.next), ...this.ring.slice(0, this.next)].map(call => call.counted())
  }

  /** Numbers that change with every count and with every call. */
  state(): { readonly counts: number; readonly calls: number } {
    return { counts: this.changes, calls: this.visible }
  }

  /** Writes the counts a last time. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
    this.write()
  }

  private writeLater(): void {
    if (this.timer !== null) return
    this.timer = setTimeout(() => {
      this.timer = null
      this.write()
    }, this.options.every)
    this.timer.unref()
  }

  /** Writes the counts; if that fails, they stay in memory and are written with the next count. */
  private write(): void {
    if (this.written === this.changes) return
    const { file } = this.options
    try {
      mkdirSync(path.dirname(file), { recursive: true })
    } catch {
      // A failure to write counts must not affect the portal.
    }
    if (replaceCached(file, `${JSON.stringify({ datasets: Object.fromEntries(this.counted) })}\n`))
      this.written = this.changes
  }
}

/** The usage statistics in the explore template of a dataset (REST 7.5). */
export function exploreMetas({ call, download, attachment }: UsageCounts) {
  return {
    download_count: download,
    api_call_count: call,
    attachment_download_count: attachment,
    reuse_count: 0,
    feedback_count: 0,
    popularity_score: popularity({ call, download, attachment }),
  }
}

/** A score to sort datasets by: it grows by 10 for ten times the use, and a download counts as ten calls. */
function popularity({ call, download, attachment }: UsageCounts): number {
  return Math.round(100 * Math.log10(1 + call + 10 * (download + attachment))) / 10
}

/** The counts of the previous run; none if the file is missing or damaged. */
function readCounts(file: string, max: number): Map<string, Record<CallKind, number>> {
  const counted = new Map<string, Record<CallKind, number>>()
  try {
    const { datasets } = JSON.parse(readFileSync(file, 'utf8')) as { readonly datasets?: unknown }
    for (const [id, counts] of Object.entries(datasets ?? {}).slice(0, max)) {
      const given = (counts ?? {}) as Readonly<Record<string, unknown>>
      counted.set(id, {
        call: countOf(given.call),
        download: countOf(given.download),
        attachment: countOf(given.attachment),
      })
    }
  } catch {
    counted.clear()
  }
  return counted
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
