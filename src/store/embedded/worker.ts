import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { megabytes } from '../../runtime/memory.ts'
import { prioritisedThread, standBack } from '../../runtime/thread-priority.ts'
import { EmbeddedEngine } from './engine.ts'
import { batches, countTextLines, type EngineJob, type EngineReply, type WorkerSetup } from './protocol.ts'
import { isOversize, isTrap } from './traps.ts'

const port = parentPort
if (port === null) throw new Error('worker.ts runs in a worker thread only')
const reply = (message: EngineReply): void => port.postMessage(message)

/** The engine writes a panic to the console before it traps: this text is the only information about its cause. */
let panic = ''
console.error = (text: unknown) => {
  panic = String(text).split('\n', 2).join(' ')
}

/** False after the engine trapped: the thread is about to be terminated and no longer uses it. */
let sound = true

// Long queries and loads run here: threads that answer from columns have a higher priority.
standBack(prioritisedThread())
const engine = new EmbeddedEngine((workerData as WorkerSetup).module)
port.on('message', (request: EngineJob) => {
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
reply({ type: 'up', memory: engine.memory })

function answer({ id, sparql, format, dataset, maxLength }: EngineJob & { type: 'query' }): void {
  try {
    const text = engine.query(sparql, format, dataset)
    if (text.length > maxLength) reply({ type: 'oversize', id, memory: engine.memory })
    else reply({ type: 'answer', id, text, memory: engine.memory })
  } catch (error) {
    if (isTrap(error)) trap(id, error)
    else reply({ type: 'error', id, message: messageOf(error), memory: engine.memory })
  }
}

async function load({ id, graph, source, limit }: EngineJob & { type: 'load' }): Promise<void> {
  const before = engine.memory
  let lines = 0
  try {
    for await (const batch of batches(source)) {
      if (!sound) return
      engine.loadLines(graph, batch, limit)
      lines += countTextLines(batch)
      if (engine.memory > limit && engine.memory > before) {
        const message = `the graph ${graph} needs more memory than the ${megabytes(limit)} that there are`
        return refuse(id, graph, 'memory', message)
      }
      reply({ type: 'progress', id, lines })
      await setImmediate()
    }
    reply({ type: 'loaded', id, memory: engine.memory })
  } catch (error) {
    // Errors of the file system and of decompression have a code, too, but the engine did not cause them.
    if (isTrap(error) && !(error instanceof Error && 'errno' in error && !isOversize(error))) trap(id, error)
    else refuse(id, graph, 'text', `the graph ${graph} cannot be loaded: ${messageOf(error)}`)
  }
}

function refuse(id: number, graph: string, reason: 'text' | 'memory', message: string): void {
  try {
    engine.drop([graph])
    reply({ type: 'refused', id, reason, message, memory: engine.memory })
  } catch (error) {
    trap(id, error)
  }
}

function drop({ id, graphs }: EngineJob & { type: 'drop' }): void {
  try {
    engine.drop(graphs)
    reply({ type: 'dropped', id, memory: engine.memory })
  } catch (error) {
    trap(id, error)
  }
}

function trap(id: number, error: unknown): void {
  if (!sound) return
  sound = false
  const reason = panic === '' ? messageOf(error) : `${messageOf(error)}: ${panic}`
  reply({ type: 'trap', id, reason })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
