/**
 * Lines from one process to another: a question opens one, then the other side says things on it until it
 * ends it, or one of the two hangs up or dies. What is said on a line is heard once and in order; where some
 * of it was lost, the line is lost.
 */
import { Fault } from '../define/fault.ts'
import { startDeadline } from '../util/clock.ts'
import type { ClusterMembership } from './cluster.ts'

/** How one side of a line hears of the other. */
export interface ChannelListener {
  /** Something was said. */
  onMessage?(value: unknown): void
  /** The other side has ended the line, or hung up. Called once, and not after `lost`. */
  onEnd?(): void
  /** The other process has died, or something that it said is lost. Called once. */
  onLost?(): void
}

/** One side of a line. */
export interface PeerChannel {
  /** The process at the other side. */
  readonly node: string
  /** Says something to the other side; nothing after the end. */
  send(value: unknown): void
  /** Ends it, or hangs up. */
  end(): void
}

/** Takes a line that another process opens, and says what its side does. It must not throw. */
export type AcceptChannel = (question: unknown, line: PeerChannel) => ChannelListener | undefined

interface Open { readonly line: PeerChannel; ends: ChannelListener | undefined; unsaid: number }

/** Characters that may be on their way on one line. */
const MAX_UNSAID = 8 * 1024 * 1024
const LOOK_MS = 1_000

/** All lines of this process. */
export class PeerChannels {
  readonly #nodes: ClusterMembership
  readonly #answers = new Map<string, AcceptChannel>()
  readonly #open = new Map<string, Open>()
  /** Lines that are being opened: an answer may be there before whoever opens one has it. */
  readonly #opening = new Set<string>()
  #count = 0
  #timer: NodeJS.Timeout | undefined

  constructor(nodes: ClusterMembership) {
    this.#nodes = nodes
    nodes.on('open', (body, from) => {
      const [id, kind, question]: readonly unknown[] = Array.isArray(body) ? body : []
      if (typeof id !== 'string' || typeof kind !== 'string') return
      const open = this.#add(id, from)
      open.ends = this.#answers.get(kind)?.(question, open.line)
      if (open.ends === undefined && this.#open.has(id)) open.line.end()
    })
    nodes.on('say', (body) => {
      const [id, value]: readonly unknown[] = Array.isArray(body) ? body : []
      if (typeof id === 'string') this.#onceOpen(id, () => this.#open.get(id)?.ends?.onMessage?.(value))
    })
    nodes.on('end', (id) => {
      if (typeof id === 'string') this.#onceOpen(id, () => this.#take(id)?.ends?.onEnd?.())
    })
    nodes.onLost((isFirst) => {
      if (isFirst) return
      for (const id of [...this.#open.keys()]) this.#lose(id)
    })
  }

  /** What is done with lines that are opened for one thing. */
  on(kind: string, answer: AcceptChannel): void { this.#answers.set(kind, answer) }

  /** Opens a line to another process. Nothing is heard on it before this returns. */
  open(node: string, kind: string, question: unknown, ends: ChannelListener): PeerChannel {
    const id = `${this.#nodes.id}.${++this.#count}`
    const open = this.#add(id, node)
    open.ends = ends
    this.#opening.add(id)
    this.#post(id, open, 'open', [id, kind, question])
    this.#opening.delete(id)
    return open.line
  }

  /**
   * Asks another process, and resolves to the first that it says. Rejects with `Fault('busy')` where it does
   * not say anything in `timeoutMs`, and with `Fault('not-found')` where it is dead.
   */
  ask(node: string, kind: string, question: unknown, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const silent = (): void => {
        line.end()
        this.#nodes.isAlive(node).then((isAlive) => reject(isAlive ? late() : dead()), reject)
      }
      const stop = startDeadline(timeoutMs, silent)
      const done = (settle: () => void): void => {
        stop()
        settle()
      }
      const line = this.open(node, kind, question, {
        onMessage: (value) => done(() => {
          line.end()
          resolve(value)
        }),
        onEnd: () => done(() => reject(late())),
        onLost: () => done(silent),
      })
    })
  }

  /** A store that passes on what others say while it publishes would else be heard too early. */
  #onceOpen(id: string, run: () => void): void {
    if (!this.#opening.has(id)) return run()
    queueMicrotask(() => {
      try {
        run()
      } catch (error) {
        warn(error)
      }
    })
  }

  #add(id: string, node: string): Open {
    const open: Open = {
      ends: undefined, unsaid: 0,
      line: {
        node,
        send: (value) => { if (this.#open.get(id) === open) this.#post(id, open, 'say', [id, value]) },
        end: () => {
          if (this.#open.get(id) !== open) return
          this.#take(id)
          this.#nodes.send(node, 'end', id).catch(() => {})
        },
      },
    }
    this.#open.set(id, open)
    this.#watch()
    return open
  }

  #post(id: string, open: Open, kind: string, body: readonly unknown[]): void {
    const size = JSON.stringify(body)?.length ?? 0
    open.unsaid += size
    if (open.unsaid > MAX_UNSAID) return this.#onceOpen(id, () => this.#lose(id))
    this.#nodes.send(open.line.node, kind, body).then(() => { open.unsaid -= size }, () => this.#lose(id))
  }

  #take(id: string): Open | undefined {
    const open = this.#open.get(id)
    this.#open.delete(id)
    return open
  }

  #lose(id: string): void {
    const open = this.#take(id)
    if (open === undefined) return
    this.#nodes.send(open.line.node, 'end', id).catch(() => {})
    try {
      open.ends?.onLost?.()
    } catch (error) {
      warn(error)
    }
  }

  /** As long as a line is open, looks whether the other side lives. */
  #watch(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const others = new Set([...this.#open.values()].map(({ line }) => line.node))
      void Promise.all([...others].map((node) => this.#look(node))).then(() => {
        if (this.#open.size > 0) this.#watch()
      })
    }, Math.min(LOOK_MS, this.#nodes.beatMs))
    this.#timer.unref()
  }

  async #look(node: string): Promise<void> {
    // A store that does not answer says nothing about anybody.
    if (await this.#nodes.isAlive(node).catch(() => true)) return
    for (const [id, { line }] of [...this.#open]) if (line.node === node) this.#lose(id)
  }
}

/** Tells of what nobody waits for. */
function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}

function late(): Fault {
  return new Fault('busy', 'Another process does not answer; try again later')
}

function dead(): Fault {
  return new Fault('not-found', 'The process that had it has ended')
}
