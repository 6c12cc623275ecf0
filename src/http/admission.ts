import type { ServerResponse } from 'node:http'
import type { MaybePromise } from '../accounts/maybe-promise.ts'
import type { ClientBudget } from './budget.ts'

/** Requests of a client that uses more than others, of which each is answered before the next is begun. */
const AT_ONCE = 1

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Has the requests of those who use the most wait for one another while others ask, so that no more than one of each stands
 * before the next request of anybody else.
 */
export class Admission {
  private readonly lines = new Map<string, Line>()

  /** Resolves when a request may be answered; it counts until its response is closed. */
  enter(client: ClientBudget, response: ServerResponse): MaybePromise<void> {
    const line = this.lines.get(client.id) ?? { running: 0, waiting: [] }
    this.lines.set(client.id, line)
    if (line.running < AT_ONCE || (line.waiting.length === 0 && !client.isHeavy())) {
      this.begin(client, line, response)
      return undefined
    }
    return new Promise(resolve => {
      const next = () => {
        response.off('close', leave)
        this.begin(client, line, response)
        resolve()
      }
      const leave = () => {
        const at = line.waiting.indexOf(next)
        if (at >= 0) line.waiting.splice(at, 1)
      }
      line.waiting.push(next)
      response.once('close', leave)
    })
  }

  private begin(client: ClientBudget, line: Line, response: ServerResponse): void {
    line.running += 1
    response.once('close', () => {
      line.running -= 1
      if (line.running === 0 && line.waiting.length === 0) this.lines.delete(client.id)
      while (line.waiting.length > 0 && (line.running < AT_ONCE || !client.isHeavy()))
        line.waiting.shift()?.()
    })
  }
}
