import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { BASE, root } from '../support.ts'
import type { Question } from './questions.ts'

/** A portal that is served by a process of its own. */
export class ServedPortal {
  /** Seconds until it was ready. */
  readonly seconds: number
  private readonly child: ChildProcess
  private readonly port: number
  private readonly agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

  private constructor(child: ChildProcess, port: number, seconds: number) {
    this.child = child
    this.port = port
    this.seconds = seconds
  }

  static async start(folder: string): Promise<ServedPortal> {
    const begun = performance.now()
    const args = ['serve', '--portal', folder, '--port', '0', '--base', BASE]
    const child = spawn(process.execPath, [path.join(root, 'bin/lodestone.js'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const port = await new Promise<number>((resolve, reject) => {
      let said = ''
      child.stdout?.on('data', data => {
        said += String(data)
        const found = /\(port (\d+)\)|is served at http:\/\/[^\s]*:(\d+)/.exec(said)
        if (found !== null) resolve(Number(found[1] ?? found[2]))
      })
      child.once('exit', code => reject(new Error(`the server ended with ${code}`)))
    })
    return new ServedPortal(child, port, (performance.now() - begun) / 1000)
  }

  get(address: string): Promise<{ readonly milliseconds: number; readonly body: string }> {
    return new Promise((resolve, reject) => {
      const begun = performance.now()
      const { port, agent } = this
      http
        .get({ host: '127.0.0.1', port, path: address, agent }, response => {
          const parts: Buffer[] = []
          response.on('data', part => parts.push(part as Buffer))
          response.on('end', () => {
            const body = Buffer.concat(parts).toString()
            if (response.statusCode !== 200) reject(new Error(`${address}: ${body}`))
            else resolve({ milliseconds: performance.now() - begun, body })
          })
        })
        .on('error', reject)
    })
  }

  ask(dataset: string, { path: kind, odsql }: Question) {
    const query = new URLSearchParams()
    for (const [name, values] of Object.entries(odsql))
      for (const value of [values].flat()) query.append(name, value as string)
    return this.get(`/api/explore/v2.1/catalog/datasets/${dataset}/${kind}?${query}`)
  }

  /** Megabytes that are resident now; null where the system does not tell. */
  memory(): number | null {
    const file = `/proc/${this.child.pid}/status`
    if (!existsSync(file)) return null
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) / 1000
  }

  /** Milliseconds of processor time so far. */
  processor(): number {
    const file = `/proc/${this.child.pid}/stat`
    if (!existsSync(file)) return Number.NaN
    const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * 10
  }

  async stop(): Promise<void> {
    this.agent.destroy()
    const ended = new Promise(resolve => this.child.once('exit', resolve))
    this.child.kill('SIGTERM')
    await ended
  }
}
