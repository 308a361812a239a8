/**
 * The set of everything served, in stable order. It can change while the server runs; listeners are told
 * which list changed.
 */
import { normalUri } from '../wire/uri.ts'
import { allMembers, sameIdMessage } from './agent.ts'
import { rejectMore, requireString, show } from './validate.ts'
import { defineThing } from './normalize-definitions.ts'
import type { Agent, Group } from './agent.ts'
import type { ServedKind } from './validate.ts'
import type { Prompt } from './prompt.ts'
import type { Resource, ResourceTemplate } from './resource.ts'
import type { LoneTool, Thing } from './normalize-definitions.ts'
import type { Tool } from './tool.ts'

/** Anything that can be served. */
export type Served = Agent | Group | Tool | Resource | ResourceTemplate | Prompt

/** What listeners are told: that a list changed, or what a resource holds (its name is its URI). */
export type CatalogChange =
  | { readonly kind: ServedKind; readonly name: string; readonly change: 'added' | 'removed' }
  | { readonly kind: 'resource'; readonly name: string; readonly change: 'updated' }

/** What not every server has. */
export type Offering = 'resource' | 'prompt' | 'completion'

/** Everything that one server serves. */
export class Catalog {
  readonly #agents = new Map<string, Agent>()
  readonly #groups = new Map<string, Group>()
  readonly #tools = new Map<string, Tool>()
  readonly #resources = new Map<string, Resource>()
  readonly #templates = new Map<string, ResourceTemplate>()
  readonly #prompts = new Map<string, Prompt>()
  readonly #offerings = new Set<Offering>()
  readonly #listeners = new Set<(change: CatalogChange) => void>()
  readonly #checks = new Set<() => void>()
  readonly #owner: string
  #root: Agent | Group | undefined

  constructor(owner: string) {
    this.#owner = owner
  }

  get agents(): readonly Agent[] { return [...this.#agents.values()] }
  get groups(): readonly Group[] { return [...this.#groups.values()] }
  get tools(): readonly Tool[] { return [...this.#tools.values()] }
  get resources(): readonly Resource[] { return [...this.#resources.values()] }
  get templates(): readonly ResourceTemplate[] { return [...this.#templates.values()] }
  get prompts(): readonly Prompt[] { return [...this.#prompts.values()] }

  /** An agent or group by its id; `_` may stand for `-`. */
  runnable(id: string): Agent | Group | undefined {
    const plain = id.replaceAll('_', '-')
    return this.#agents.get(plain) ?? this.#groups.get(plain)
  }

  tool(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  /** A fixed resource by its URI, in whatever spelling. */
  resource(uri: string): Resource | undefined {
    return this.#resources.get(normalUri(uri))
  }

  /** A template by its own text. */
  template(uriTemplate: string): ResourceTemplate | undefined {
    return this.#templates.get(uriTemplate)
  }

  prompt(name: string): Prompt | undefined {
    return this.#prompts.get(name)
  }

  /** Whether there are such things, or once were: what a client was promised is not taken back. */
  offers(what: Offering): boolean {
    return this.#offerings.has(what)
  }

  /** What the root of a door answers with: the first group, else the first agent. */
  get root(): Agent | Group | undefined { return this.#root }

  /**
   * Adds one thing, made or as its definition is written; a group brings everybody who is in it. Throws
   * `TypeError` where it is no such thing, where its id, name or URI is taken, and where a door could not
   * serve it; then nothing has changed. An agent or a group that is there already is not added again.
   */
  add<const S>(given: LoneTool<S>): void
  add(given: Thing): void
  add(given: Thing): void {
    rejectMore('catalog.add', arguments, 'add one after the other')
    const thing = defineThing(given)
    const fresh = this.#fresh(thing)
    if (fresh.length === 0) return
    for (const one of fresh) this.#collection(one.kind).set(keyOf(one), one)
    try {
      for (const check of this.#checks) check()
    } catch (error) {
      for (const one of fresh) this.#collection(one.kind).delete(keyOf(one))
      throw error
    }
    if (thing.kind === 'prompt') this.#offerings.add('prompt')
    if (thing.kind === 'resource' || thing.kind === 'resource-template') this.#offerings.add('resource')
    if ('completers' in thing && thing.completers.size > 0) this.#offerings.add('completion')
    this.#tell({ kind: thing.kind, name: nameOf(thing), change: 'added' })
  }

  /** What is new of a thing and of those that it brings. Throws `TypeError` where a name is taken. */
  #fresh(thing: Served): readonly Served[] {
    if (thing.kind === 'agent' || thing.kind === 'group') {
      const all = thing.kind === 'group' ? [thing, ...allMembers(thing)] : [thing]
      for (const one of all) {
        const twin = this.#known(one.id)
        if (twin !== undefined && twin !== one) throw new TypeError(sameIdMessage(this.#owner, twin, one))
      }
      return all.filter((one) => this.#collection(one.kind).get(one.id) !== one)
    }
    if (this.#collection(thing.kind).has(keyOf(thing))) throw new TypeError(taken(thing))
    return [thing]
  }

  /** Whoever has an id: also an agent that was removed and that a group still runs. */
  #known(id: string): Agent | Group | undefined {
    return this.runnable(id) ?? this.groups.flatMap(allMembers).find((one) => one.id === id)
  }

  /**
   * Takes one thing away. False where there is none of that kind and name. An agent's name is its id, a
   * resource's its URI, a template's its own text. A group still runs an agent that is not served by itself
   * any more, and who is in a group stays when it goes. Throws `TypeError` for what is no kind or no name.
   */
  remove(kind: ServedKind, name: string): boolean {
    const collection: Map<string, Served> | undefined = this.#collection(kind)
    if (collection === undefined) {
      throw new TypeError(`catalog.remove takes a kind, not ${show(kind)}; write 'agent', 'group', 'tool', `
        + `'resource', 'resource-template' or 'prompt'`)
    }
    const key = requireString('catalog.remove', 'name', name)
    const gone = collection.delete(kind === 'resource' ? normalUri(key) : key)
    if (gone) this.#tell({ kind, name, change: 'removed' })
    return gone
  }

  #collection(kind: ServedKind): Map<string, Served> {
    switch (kind) {
      case 'agent': return this.#agents
      case 'group': return this.#groups
      case 'tool': return this.#tools
      case 'resource': return this.#resources
      case 'resource-template': return this.#templates
      case 'prompt': return this.#prompts
    }
  }

  /** Tells listeners that what the resource of that URI holds has changed; a template's resource too. */
  updated(uri: string): void {
    this.#tell({ kind: 'resource', name: requireString('catalog.updated', 'uri', uri), change: 'updated' })
  }

  /**
   * Lets a door refuse what it could not serve: `check` is called with each new thing in place, and throws.
   */
  onCheck(check: () => void): () => void {
    this.#checks.add(check)
    return () => this.#checks.delete(check)
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

/** The sentence for a name that something else has. */
function taken(thing: Tool | Prompt | Resource | ResourceTemplate): string {
  switch (thing.kind) {
    case 'tool': return `Two tools are named '${thing.name}'; rename one of them`
    case 'prompt': return `Two prompts are named '${thing.name}'; rename one of them`
    case 'resource': return `Two resources are '${thing.uri}'; change one of them`
    case 'resource-template': return `Two resource templates are '${thing.uriTemplate}'; change one of them`
  }
}

/** The key of a thing among those of its kind. */
function keyOf(thing: Served): string {
  return thing.kind === 'resource' ? normalUri(thing.uri) : nameOf(thing)
}

/** The name by which a thing is taken away again. */
function nameOf(thing: Served): string {
  switch (thing.kind) {
    case 'agent':
    case 'group': return thing.id
    case 'resource': return thing.uri
    case 'resource-template': return thing.uriTemplate
    default: return thing.name
  }
}
