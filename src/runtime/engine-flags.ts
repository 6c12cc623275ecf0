import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { standBackEngineThreads } from './thread-priority.ts'

/** Percentage by which a heap may grow beyond its live size before garbage is collected. */
const HEAP_GROWTH = 40

/**
 * With so many processors or fewer, a thread marks and sweeps its own garbage: helper threads that do so for a long query would
 * delay requests.
 */
const FEW_PROCESSORS = 4

/**
 * Tunes the JavaScript engine of this process for a server; call it before other threads are started, which inherit the flags.
 *
 * Functions are compiled when they first run, with type feedback from then on. By default the engine interprets a function for a
 * while, which makes a request up to a millisecond slower. Garbage is collected once a heap has grown by a share of its live
 * size: by default a heap may become four times as large, which is much of a small `memory`. Optimised code is compiled while no
 * request needs the processor.
 */
export function tuneEngine(): void {
  setFlagsFromString('--always-sparkplug')
  setFlagsFromString('--no-lazy-feedback-allocation')
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`)
  if (availableParallelism() <= FEW_PROCESSORS) collectAlone()
  standBackEngineThreads()
}

/**
 * Garbage is marked and swept by its own thread alone. Helper threads that are at it already would go on while the engine believes
 * there are none, and crash the process once objects move (about one of a hundred such changes does): a full collection between
 * the flags ends them. Without parallel marking, which a collection that halts the thread uses, the engine crashes always.
 */
function collectAlone(): void {
  setFlagsFromString('--no-concurrent-sweeping')
  setFlagsFromString('--no-concurrent-array-buffer-sweeping')
  collectGarbage()
  setFlagsFromString('--no-concurrent-marking')
}

let collector: (() => void) | null = null

/**
 * Collects the garbage of this thread now. The engine does not count the bytes of SharedArrayBuffers, and keeps those that nothing
 * refers to any more until it has garbage of another kind.
 */
export function collectGarbage(): void {
  if (collector === null) {
    setFlagsFromString('--expose-gc')
    collector = runInNewContext('gc') as () => void
  }
  collector()
}
