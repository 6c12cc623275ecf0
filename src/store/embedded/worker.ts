import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { batches, countLines } from './batches.ts'
import { Engine } from './engine.ts'
import { megabytes } from './memory.ts'
import { ThreadPriority } from './priority.ts'
import type { Reply, Request, WorkerSetup } from './protocol.ts'
import { isOversize, isTrap } from './traps.ts'

/** Entry of a worker thread: one engine that answers {@link Request} with {@link Reply}. */
const port = parentPort
if (port === null) throw new Error('worker.ts runs in a worker thread only')
const tell = (reply: Reply): void => port.postMessage(reply)

/** A panic of the engine is written to the console before it traps: the text is the only account of its cause. */
let panic = ''
console.error = (text: unknown) => {
  panic = String(text).split('\n', 2).join(' ')
}

type Refusal = Reply & { readonly type: 'refused' }

/** False once the engine trapped: the thread is about to be ended and touches it no more. */
let sound = true

const priority = new ThreadPriority()
const engine = new Engine((workerData as WorkerSetup).module)
port.on('message', (request: Request) => {
  if (!sound) return
  switch (request.type) {
    case 'query':
      return answer(request)
    case 'load':
      return void load(request)
    case 'drop':
      return drop(request)
    default:
      return request satisfies never
  }
})
tell({ type: 'up', memory: engine.memory })

function answer({ id, sparql, format, dataset, longest, announce }: Request & { type: 'query' }): void {
  if (announce) tell({ type: 'begun', id })
  // A dataset of its own is what the query of a stranger has, which may be a long one.
  if (dataset !== undefined) priority.standBack()
  const before = engine.memory
  const used = () => ({ memory: engine.memory, heapGrowth: engine.memory - before })
  try {
    const text = engine.query(sparql, format, dataset)
    if (text.length > longest) tell({ type: 'oversize', id, ...used() })
    else tell({ type: 'answer', id, text, ...used() })
  } catch (error) {
    if (isTrap(error)) trap(id, error)
    else tell({ type: 'error', id, message: messageOf(error), ...used() })
  } finally {
    if (dataset !== undefined) priority.comeBack()
  }
}

async function load({ id, source, limit, inBackground }: Request & { type: 'load' }): Promise<void> {
  const before = engine.memory
  let [lines, reserved] = [0, 0]
  if (inBackground) priority.standBack()
  try {
    for await (const batch of batches(source)) {
      if (!sound) return
      reserved = engine.loadLines(source.graph, batch, limit)
      lines += countLines(batch)
      if (engine.memory > limit && engine.memory > before) {
        const message = `the graph ${source.graph} needs more memory than the ${megabytes(limit)} that there are`
        return refuse(id, source.graph, 'memory', message)
      }
      tell({ type: 'progress', id, lines })
      // Between two batches queries have their turn.
      await setImmediate()
    }
    if (!sound) return
    const quads = engine.countLoaded(source.graph, lines)
    const grown = Math.max(0, engine.memory - before - reserved)
    tell({ type: 'loaded', id, quads, grown, memory: engine.memory })
  } catch (error) {
    // What the file system and the decompression throw has a code too, but the engine had no part in it.
    if (isTrap(error) && !isReadError(error)) trap(id, error)
    else {
      const reason = isOfTheSystem(error) ? 'system' : 'text'
      refuse(id, source.graph, reason, `the graph ${source.graph} cannot be loaded: ${messageOf(error)}`)
    }
  } finally {
    if (inBackground) priority.comeBack()
  }
}

function refuse(id: number, graph: string, reason: Refusal['reason'], message: string): void {
  try {
    engine.drop([graph])
    tell({ type: 'refused', id, reason, message, memory: engine.memory })
  } catch (error) {
    trap(id, error)
  }
}

function drop({ id, graphs }: Request & { type: 'drop' }): void {
  try {
    engine.drop(graphs)
    tell({ type: 'dropped', id, memory: engine.memory })
  } catch (error) {
    trap(id, error)
  }
}

function trap(id: number, error: unknown): void {
  if (!sound) return
  sound = false
  const reason = panic === '' ? messageOf(error) : `${messageOf(error)}: ${panic}`
  tell({ type: 'trap', id, reason, oversize: isOversize(error) })
}

/** True where too much is open at once, which says nothing about the file. */
function isOfTheSystem(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')
}

function isReadError(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && !isOversize(error)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
