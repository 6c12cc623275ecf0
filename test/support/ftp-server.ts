import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** What a server of FTP does beside answering: `hang` sends no byte of a file, `far` names another host for the data, `plain` tells neither size nor time, `talk` greets without an end. */
export type FtpManner = 'plain' | 'hang' | 'far' | 'busy' | 'talk' | null

/** A small server of FTP (RFC 959, 2428) over files in memory, for one test. */
export class FtpServer {
  readonly files = new Map<string, string>()
  readonly commands: string[] = []
  manner: FtpManner = null
  /** Key and certificate for clients that request TLS; without them it is not known. */
  tls: { readonly key: string; readonly cert: string } | null = null
  modified = '20240101000000'
  /** The replies to a file that is not there, and to the name of a user, in place of the usual ones. */
  readonly replies: { file?: string; user?: string } = {}
  private readonly server: Server = createServer(socket => this.serve(socket))
  private readonly sockets = new Set<Socket>()

  async start(): Promise<string> {
    await new Promise<void>(resolve => this.server.listen(0, '127.0.0.1', resolve))
    return `ftp://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy()
    this.server.close()
  }

  private serve(control: Socket): void {
    this.keep(control)
    const say = (text: string) => control.write(`${text}\r\n`)
    let data: Promise<Socket> | null = null
    let user = ''
    if (this.manner === 'talk') {
      const timer = setInterval(() => say('220-and'), 20)
      control.once('close', () => clearInterval(timer))
      return
    }
    say(this.manner === 'busy' ? '421 too many users' : '220 ready')
    control.on('data', piece => {
      for (const line of String(piece)
        .split('\r\n')
        .filter(it => it !== '')) {
        this.commands.push(line)
        const [, command = '', argument = ''] = /^(\S+) ?(.*)$/s.exec(line) ?? []
        const text = this.files.get(argument)
        switch (command) {
          case 'USER':
            user = argument
            say(this.replies.user ?? '331 password')
            break
          case 'PASS':
            say(user === 'anonymous' || argument === 'right' ? '230 in' : '530 no')
            break
          case 'SIZE':
          case 'MDTM':
            if (text === undefined) say('550 no such file')
            else if (this.manner === 'plain') say('502 not known')
            else say(`213 ${command === 'SIZE' ? Buffer.byteLength(text) : this.modified}`)
            break
          case 'EPSV':
            if (this.manner === 'far') say('500 not known')
            else data = this.openData(port => say(`229 Entering (|||${port}|)`))
            break
          case 'PASV':
            say('227 Entering (10,0,0,1,4,1)')
            break
          case 'RETR':
            if (text === undefined) say(this.replies.file ?? '550 no such file')
            else {
              say('150 coming')
              void data?.then(socket => {
                if (this.manner !== 'hang') socket.end(text, () => say('226 done'))
              })
            }
            break
          case 'AUTH':
            say(this.tls === null ? '200 fine' : '234 go on')
            if (this.tls !== null) this.keep(new TLSSocket(control, { ...this.tls, isServer: true }))
            break
          case 'FEAT':
            say('211 none')
            break
          default:
            say('200 fine')
        }
      }
    })
  }

  private openData(onPort: (port: number) => void): Promise<Socket> {
    return new Promise(resolve => {
      const listener = createServer(socket => {
        this.keep(socket)
        listener.close()
        resolve(socket)
      })
      listener.listen(0, '127.0.0.1', () => onPort((listener.address() as AddressInfo).port))
    })
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => this.sockets.delete(socket))
  }
}
