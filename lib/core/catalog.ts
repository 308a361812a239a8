/**
 * The set of everything served, in stable order. It can change while the server runs; listeners are told
 * which list changed.
 */
import { normalUri } from '../wire/uri-expand.ts'
import { twins } from './agent.ts'
import type { Agent, Group } from './agent.ts'
import type { ServedKind } from './define.ts'
import type { Prompt } from './prompt.ts'
import type { Resource, ResourceTemplate } from './resource.ts'
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

  /** Adds one thing. Throws `TypeError` where its id, name or URI is taken. */
  add(thing: Served): void {
    switch (thing.kind) {
      case 'tool':
        put(this.#tools, thing.name, thing, `Two tools are named '${thing.name}'; rename one of them`)
        break
      case 'prompt':
        put(this.#prompts, thing.name, thing, `Two prompts are named '${thing.name}'; rename one of them`)
        this.#offerings.add('prompt')
        break
      case 'resource':
        put(this.#resources, normalUri(thing.uri), thing, `Two resources are '${thing.uri}'; change one of them`)
        this.#offerings.add('resource')
        break
      case 'resource-template':
        put(this.#templates, thing.uriTemplate, thing,
          `Two resource templates are '${thing.uriTemplate}'; change one of them`)
        this.#offerings.add('resource')
        break
      default:
        this.#addRunnable(thing)
    }
    if ('completers' in thing && thing.completers.size > 0) this.#offerings.add('completion')
    this.#tell({ kind: thing.kind, name: nameOf(thing), change: 'added' })
  }

  #addRunnable(thing: Agent | Group): void {
    const twin = this.runnable(thing.id)
    if (twin !== undefined && twin !== thing) throw new TypeError(twins(this.#owner, twin, thing))
    if (thing.kind === 'agent') {
      this.#agents.set(thing.id, thing)
      return
    }
    for (const agent of thing.agents) this.#addRunnable(agent)
    const namesake = this.#agents.get(thing.id)
    if (namesake !== undefined) throw new TypeError(twins(this.#owner, namesake, thing))
    this.#groups.set(thing.id, thing)
  }

  /**
   * Takes one thing away. False where there is none of that kind and name. An agent's name is its id, a
   * resource's its URI, a template's its own text.
   */
  remove(kind: ServedKind, name: string): boolean {
    const gone = this.#collection(kind).delete(kind === 'resource' ? normalUri(name) : name)
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
    this.#tell({ kind: 'resource', name: uri, change: 'updated' })
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

function put<T>(collection: Map<string, T>, name: string, thing: T, taken: string): void {
  if (collection.has(name)) throw new TypeError(taken)
  collection.set(name, thing)
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
