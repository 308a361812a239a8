/**
 * The set of everything served, in stable order. It can change while the server runs; listeners are told
 * which list changed.
 */
import { twins } from './agent.ts'
import type { Agent, Group } from './agent.ts'
import type { Kind } from './define.ts'
import type { Tool } from './tool.ts'

/** Anything that can be served. */
export type Served = Agent | Group | Tool

/** What listeners are told. */
export interface CatalogChange { readonly kind: Kind; readonly name: string; readonly change: 'added' | 'removed' }

/** Everything that one server serves. */
export class Catalog {
  readonly #agents = new Map<string, Agent>()
  readonly #groups = new Map<string, Group>()
  readonly #tools = new Map<string, Tool>()
  readonly #listeners = new Set<(change: CatalogChange) => void>()
  readonly #owner: string
  #root: Agent | Group | undefined

  constructor(owner: string) {
    this.#owner = owner
  }

  get agents(): readonly Agent[] { return [...this.#agents.values()] }
  get groups(): readonly Group[] { return [...this.#groups.values()] }
  get tools(): readonly Tool[] { return [...this.#tools.values()] }

  /** An agent or group by its id; `_` may stand for `-`. */
  runnable(id: string): Agent | Group | undefined {
    const plain = id.replaceAll('_', '-')
    return this.#agents.get(plain) ?? this.#groups.get(plain)
  }

  tool(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  /** What the root of a door answers with: the first group, else the first agent. */
  get root(): Agent | Group | undefined { return this.#root }

  /** Adds one thing. Throws `TypeError` where its id or name is taken. */
  add(thing: Served): void {
    if (thing.kind === 'tool') {
      if (this.#tools.has(thing.name)) throw new TypeError(`Two tools are named '${thing.name}'; rename one of them`)
      this.#tools.set(thing.name, thing)
    } else {
      this.#addRunnable(thing)
    }
    this.#tell({ kind: thing.kind, name: thing.name, change: 'added' })
  }

  #addRunnable(thing: Agent | Group): void {
    const twin = this.runnable(thing.id)
    if (twin !== undefined && twin !== thing) throw new TypeError(twins(this.#owner, twin, thing))
    if (thing.kind === 'agent') {
      this.#agents.set(thing.id, thing)
      return
    }
    for (const agent of thing.agents) this.#addRunnable(agent)
    if (this.#agents.has(thing.id)) throw new TypeError(twins(this.#owner, this.#agents.get(thing.id)!, thing))
    this.#groups.set(thing.id, thing)
  }

  /** Takes one thing away. False where there is none of that kind and name (an agent's name is its id). */
  remove(kind: Kind, name: string): boolean {
    const shelf = kind === 'agent' ? this.#agents : kind === 'group' ? this.#groups : this.#tools
    const gone = shelf.delete(name)
    if (gone) this.#tell({ kind, name, change: 'removed' })
    return gone
  }

  /** Calls `listener` at each change until the returned function is called. */
  onChange(listener: (change: CatalogChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(change: CatalogChange): void {
    const [group] = this.#groups.values()
    const [agent] = this.#agents.values()
    this.#root = group ?? agent
    for (const listener of [...this.#listeners]) listener(change)
  }
}
