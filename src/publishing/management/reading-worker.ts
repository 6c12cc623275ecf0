import { parentPort, workerData } from 'node:worker_threads'
import { Fault } from '../../errors/errors.ts'
import { prioritisedThread, standBack } from '../../runtime/thread-priority.ts'
import { perform, type ReadingAnswer, type ReadingJob, sentFault } from './readings.ts'

/** Entry of a thread that reads files of a dataset once; requests go before it. */
standBack(prioritisedThread())
const answer = (message: ReadingAnswer): void => parentPort?.postMessage(message)
perform(workerData as ReadingJob).then(
  result => answer({ result }),
  (error: unknown) => {
    if (error instanceof Fault) answer({ fault: sentFault(error) })
    else throw error
  },
)
