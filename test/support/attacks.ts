import { Agent, request } from 'node:http'
import { connect } from 'node:net'

/** What a server answered. */
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly milliseconds: number
}

/** A client behind a proxy that is believed: its address is what X-Forwarded-For tells. */
export class AttackClient {
  readonly address: string
  private readonly port: number
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 50 })

  constructor(port: number, address: string) {
    this.port = port
    this.address = address
  }

  ask(
    path: string,
    more: { readonly form?: Record<string, string>; readonly headers?: Record<string, string> } = {},
  ): Promise<Answered> {
    const begun = performance.now()
    const body = more.form === undefined ? undefined : new URLSearchParams(more.form).toString()
    return new Promise((resolve, reject) => {
      const requested = request(
        {
          host: '127.0.0.1',
          port: this.port,
          path,
          agent: this.agent,
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            'x-forwarded-for': this.address,
            ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
            ...more.headers,
          },
        },
        response => {
          let text = ''
          response.on('data', piece => {
            if (text.length < 1e6) text += String(piece)
          })
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              milliseconds: performance.now() - begun,
            }),
          )
        },
      )
      requested.on('error', reject)
      requested.end(body)
    })
  }

  /** Asks one thing after another, so many at a time, until it is told to stop; gives how each was answered. */
  async flood(
    paths: (turn: number) => string,
    atATime: number,
    isOver: () => boolean,
  ): Promise<Map<string, number>> {
    const outcomes = new Map<string, number>()
    let turn = 0
    await Promise.all(
      Array.from({ length: atATime }, async () => {
        while (!isOver()) {
          const outcome = await this.ask(paths(turn++)).then(
            ({ status }) => String(status),
            error => String((error as NodeJS.ErrnoException).code),
          )
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        }
      }),
    )
    return outcomes
  }

  /** Connections that send a byte of a request now and then. */
  dribble(connections: number): () => void {
    const sockets = Array.from({ length: connections }, () => {
      const socket = connect(this.port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ')
      return socket
    })
    const timer = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('a')
    }, 500)
    return () => {
      clearInterval(timer)
      for (const socket of sockets) socket.destroy()
    }
  }

  close(): void {
    this.agent.destroy()
  }
}
