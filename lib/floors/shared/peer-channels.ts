/**
 * Channels between two processes: a request opens one, then the other side sends messages until it ends the
 * channel, or one of the two does or dies. Messages arrive once and in order; where one is lost, the channel
 * is lost.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { startDeadline } from '../../kernel/util/clock.ts'
import { warn } from '../../kernel/util/thenable.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import type { ClusterMembership } from './cluster.ts'

export interface ChannelListener {
  onMessage?(value: unknown): void
  /** The other side has ended the channel. Called once, and not after `onLost`. */
  onEnd?(): void
  /** The other process has died, or a message is lost. Called once. */
  onLost?(): void
}

export interface PeerChannel {
  /** The process at the other side. */
  readonly node: string
  /** Does nothing after the end. */
  send(value: unknown): void
  end(): void
}

/** Takes a channel that another process opens; undefined ends it. It must not throw. */
export type Acceptor = (request: unknown, channel: PeerChannel) => ChannelListener | undefined

interface Open { readonly channel: PeerChannel; listener: ChannelListener | undefined; unsent: number }

/** Characters that may be on their way on one channel: the largest result is among them. */
const MAX_UNSENT = 32 * 1024 * 1024
/** A longer text is sent in pieces, each of which fits into a value of the store. */
const PIECES = /[^]{1,262144}/gu
const LOOK_MS = 1_000

export class PeerChannels {
  readonly #cluster: ClusterMembership
  readonly #accept = new Map<string, Acceptor>()
  readonly #open = new Map<string, Open>()
  /** Channels that are being opened: an answer may arrive before `open` has returned. */
  readonly #opening = new Set<string>()
  #count = 0
  #timer: NodeJS.Timeout | undefined

  constructor(cluster: ClusterMembership) {
    this.#cluster = cluster
    cluster.on('open', (body, from) => {
      const [id, kind, request]: readonly unknown[] = Array.isArray(body) ? body : []
      if (typeof id !== 'string' || typeof kind !== 'string') return
      const open = this.#add(id, from)
      open.listener = this.#accept.get(kind)?.(request, open.channel)
      if (open.listener === undefined && this.#open.has(id)) open.channel.end()
    })
    cluster.on('say', (body) => {
      const [id, value]: readonly unknown[] = Array.isArray(body) ? body : []
      if (typeof id === 'string') this.#onceOpen(id, () => this.#open.get(id)?.listener?.onMessage?.(value))
    })
    cluster.on('end', (id) => {
      if (typeof id === 'string') this.#onceOpen(id, () => this.#take(id)?.listener?.onEnd?.())
    })
    cluster.onLost((isFirst) => {
      if (isFirst) return
      for (const id of [...this.#open.keys()]) this.#lose(id)
    })
  }

  on(kind: string, accept: Acceptor): void { this.#accept.set(kind, accept) }

  /** Opens a channel to another process. The listener is not called before this returns. */
  open(node: string, kind: string, request: unknown, listener: ChannelListener): PeerChannel {
    const id = `${this.#cluster.id}.${++this.#count}`
    const open = this.#add(id, node)
    open.listener = listener
    this.#opening.add(id)
    this.#post(id, open, 'open', [id, kind, request])
    this.#opening.delete(id)
    return open.channel
  }

  /**
   * Resolves to the first message of a channel. Rejects with `Fault('busy')` where there is none in
   * `timeoutMs`, and with `Fault('not-found')` where the other process is dead.
   */
  ask(node: string, kind: string, request: unknown, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const onSilence = (): void => {
        channel.end()
        this.#cluster.isAlive(node).then((isAlive) => reject(isAlive ? late() : dead()), reject)
      }
      const stop = startDeadline(timeoutMs, onSilence)
      const channel = this.open(node, kind, request, {
        onMessage(value) {
          stop()
          channel.end()
          resolve(value)
        },
        onEnd() {
          stop()
          reject(late())
        },
        onLost() {
          stop()
          onSilence()
        },
      })
    })
  }

  /** A store may deliver an answer while the request is still being published. */
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
      listener: undefined, unsent: 0,
      channel: {
        node,
        send: (value) => { if (this.#open.get(id) === open) this.#post(id, open, 'say', [id, value]) },
        end: () => {
          if (this.#open.get(id) !== open) return
          this.#take(id)
          this.#cluster.send(node, 'end', id).catch(() => {})
        },
      },
    }
    this.#open.set(id, open)
    this.#watch()
    return open
  }

  #post(id: string, open: Open, kind: string, body: readonly unknown[]): void {
    const size = formatJson(body)?.length ?? 0
    open.unsent += size
    if (open.unsent > MAX_UNSENT) return this.#onceOpen(id, () => this.#lose(id))
    this.#cluster.send(open.channel.node, kind, body)
      .then(() => { open.unsent -= size }, () => this.#lose(id))
  }

  #take(id: string): Open | undefined {
    const open = this.#open.get(id)
    this.#open.delete(id)
    return open
  }

  #lose(id: string): void {
    const open = this.#take(id)
    if (open === undefined) return
    this.#cluster.send(open.channel.node, 'end', id).catch(() => {})
    try {
      open.listener?.onLost?.()
    } catch (error) {
      warn(error)
    }
  }

  /** While channels are open, checks whether the other sides live. */
  #watch(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const others = new Set([...this.#open.values()].map(({ channel }) => channel.node))
      void Promise.all([...others].map((node) => this.#look(node))).then(() => {
        if (this.#open.size > 0) this.#watch()
      })
    }, Math.min(LOOK_MS, this.#cluster.beatMs))
    this.#timer.unref()
  }

  async #look(node: string): Promise<void> {
    // Where the store does not answer, it is not known.
    if (await this.#cluster.isAlive(node).catch(() => true)) return
    for (const [id, { channel }] of [...this.#open]) if (channel.node === node) this.#lose(id)
  }
}

/** Writes to the other side of a channel, which says when it has enough. */
export class ChannelSink {
  readonly closed: boolean = false
  readonly #channel: PeerChannel

  constructor(channel: PeerChannel) {
    this.#channel = channel
  }

  write(text: string): boolean {
    for (const piece of text.match(PIECES) ?? []) this.#channel.send(piece)
    return true
  }

  ready(): Promise<void> { return Promise.resolve() }

  end(text = ''): void {
    this.write(text)
    this.#channel.end()
  }
}

function late(): Fault {
  return new Fault('busy', 'Another process does not answer; try again later')
}

function dead(): Fault {
  return new Fault('not-found', 'The process that had it has ended')
}
