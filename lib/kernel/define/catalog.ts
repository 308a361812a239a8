/**
 * Everything that one server serves, in stable order. It can change while the server runs; listeners learn
 * which list changed.
 */
import { normalAddress } from '../wire/uri.ts'
import { allMembers, sameIdMessage } from './agent.ts'
import { defineThing } from './normalize-definitions.ts'
import { rejectMore, requireString, show } from './validate.ts'
import type { Adapters } from './adapters.ts'
import type { Agent, Group } from './agent.ts'
import type { Principal } from './principal.ts'
import type { LoneTool, Thing } from './normalize-definitions.ts'
import type { Prompt } from './prompt.ts'
import type { Resource, ResourceTemplate } from './resource.ts'
import type { Tool } from './tool.ts'
import type { ServedKind } from './validate.ts'

/** Anything that can be served. */
export type Served = Agent | Group | Tool | Resource | ResourceTemplate | Prompt

/** What listeners get: that a list changed, or what a resource holds (its name is its URI). */
export type CatalogChange =
  | { readonly kind: ServedKind; readonly name: string; readonly change: 'added' | 'removed' }
  | { readonly kind: 'resource'; readonly name: string; readonly change: 'updated' }

/** What not every server has. */
export type Offering = 'resource' | 'prompt' | 'completion'

/** Everything that one server serves. */
export class Catalog {
  readonly #things = {
    'agent': new Map<string, Agent>(),
    'group': new Map<string, Group>(),
    'tool': new Map<string, Tool>(),
    'resource': new Map<string, Resource>(),
    'resource-template': new Map<string, ResourceTemplate>(),
    'prompt': new Map<string, Prompt>(),
  }
  readonly #offerings = new Set<Offering>()
  readonly #listeners = new Set<(change: CatalogChange) => void>()
  readonly #checks = new Set<() => void>()
  readonly #owner: string
  readonly #adapters: Adapters
  #root: Agent | Group | undefined
  #scopes: readonly string[] | undefined

  constructor(owner: string, adapters: Adapters) {
    this.#owner = owner
    this.#adapters = adapters
  }

  get agents(): readonly Agent[] { return [...this.#things.agent.values()] }
  get groups(): readonly Group[] { return [...this.#things.group.values()] }
  get tools(): readonly Tool[] { return [...this.#things.tool.values()] }
  get resources(): readonly Resource[] { return [...this.#things.resource.values()] }
  get templates(): readonly ResourceTemplate[] { return [...this.#things['resource-template'].values()] }
  get prompts(): readonly Prompt[] { return [...this.#things.prompt.values()] }

  /** An agent or group by its id; `_` may stand for `-`. */
  runnable(id: string): Agent | Group | undefined {
    const plain = id.replaceAll('_', '-')
    return this.#things.agent.get(plain) ?? this.#things.group.get(plain)
  }

  tool(name: string): Tool | undefined {
    return this.#things.tool.get(name)
  }

  /** A fixed resource by its URI, in whatever spelling. */
  resource(uri: string): Resource | undefined {
    return this.#things.resource.get(normalAddress(uri))
  }

  /** A template by its own text. */
  template(uriTemplate: string): ResourceTemplate | undefined {
    return this.#things['resource-template'].get(uriTemplate)
  }

  prompt(name: string): Prompt | undefined {
    return this.#things.prompt.get(name)
  }

  /** Whether there are such things, or once were: what a client was promised is not taken back. */
  offers(what: Offering): boolean {
    return this.#offerings.has(what)
  }

  /** All scopes that something here needs. */
  get scopes(): readonly string[] {
    return this.#scopes ??= [...new Set(
      Object.values(this.#things).flatMap((all) => [...all.values()]).flatMap(({ scopes }) => scopes),
    )]
  }

  /**
   * Names what a caller may use: those of the scopes it has that something here needs. Callers of one view
   * see the same lists until the catalog changes; '' is the view of callers without scopes.
   */
  viewOf({ scopes: held }: Principal): string {
    const { scopes } = this
    return scopes.length === 0 ? '' : scopes.filter((scope) => held.includes(scope)).join(' ')
  }

  /** What the root of a protocol answers with: the first group, else the first agent. */
  get root(): Agent | Group | undefined { return this.#root }

  /**
   * Adds one thing, made or as its definition is written; a group brings all its members, a tool its page.
   * Throws `TypeError` where it is no such thing, where its id, name or URI is taken, and where a protocol
   * could not serve it; then nothing has changed. An agent or a group that is there already is not added
   * again.
   */
  add<const S>(given: LoneTool<S>): void
  add(given: Thing): void
  add(given: Thing): void {
    rejectMore('catalog.add', arguments, 'add one after the other')
    const thing = defineThing(given, this.#adapters)
    const fresh = this.#fresh(thing)
    if (fresh.length === 0) return
    for (const one of fresh) this.#mapOf(one.kind).set(keyOf(one), one)
    try {
      for (const check of this.#checks) check()
    } catch (error) {
      for (const one of fresh) this.#mapOf(one.kind).delete(keyOf(one))
      throw error
    }
    if (thing.kind === 'prompt') this.#offerings.add('prompt')
    const page = fresh.find((one) => one.kind === 'resource' || one.kind === 'resource-template')
    if (page !== undefined) this.#offerings.add('resource')
    if ('completers' in thing && thing.completers.size > 0) this.#offerings.add('completion')
    this.#notify({ kind: thing.kind, name: nameOf(thing), change: 'added' })
    if (page === undefined || page === thing) return
    this.#notify({ kind: page.kind, name: nameOf(page), change: 'added' })
  }

  /** What is new of a thing and of its members. Throws `TypeError` where a name is taken. */
  #fresh(thing: Served): readonly Served[] {
    if (thing.kind === 'agent' || thing.kind === 'group') {
      const all = thing.kind === 'group' ? [thing, ...allMembers(thing)] : [thing]
      for (const one of all) {
        const twin = this.#known(one.id)
        if (twin !== undefined && twin !== one) throw new TypeError(sameIdMessage(this.#owner, twin, one))
      }
      return all.filter((one) => this.#mapOf(one.kind).get(one.id) !== one)
    }
    if (!this.#mapOf(thing.kind).has(keyOf(thing))) {
      const page = thing.kind === 'tool' ? thing.ui?.page : undefined
      const known = page && this.resource(page.uri)
      if (page === undefined || known === page) return [thing]
      if (known === undefined) return [thing, page]
      throw new TypeError(`The page of the tool '${nameOf(thing)}' is at '${page.uri}', where another `
        + `resource is; write another ui.uri, or ui: { uri } alone to share it`)
    }
    const isNamed = thing.kind === 'tool' || thing.kind === 'prompt'
    throw new TypeError(`Two ${thing.kind.replace('-', ' ')}s are ${isNamed ? 'named ' : ''}`
      + `'${nameOf(thing)}'; ${isNamed ? 'rename' : 'change'} one of them`)
  }

  /** Also an agent that was removed and that a group still runs. */
  #known(id: string): Agent | Group | undefined {
    return this.runnable(id) ?? this.groups.flatMap(allMembers).find((one) => one.id === id)
  }

  /**
   * Takes one thing out. False where there is none of that kind and name. An agent's name is its id, a
   * resource's its URI, a template's its own text. A group still runs an agent that is not served by itself
   * any more, and the members of a group stay when it goes; the page of a tool goes with the last tool that
   * has it. Throws `TypeError` for what is no kind or no name.
   */
  remove(kind: ServedKind, name: string): boolean {
    if (!Object.hasOwn(this.#things, kind)) {
      throw new TypeError(`catalog.remove takes a kind, not ${show(kind)}; write 'agent', 'group', 'tool', `
        + `'resource', 'resource-template' or 'prompt'`)
    }
    const key = requireString('catalog.remove', 'name', { name })
    const page = kind === 'tool' ? this.tool(key)?.ui?.page : undefined
    const isRemoved = this.#mapOf(kind).delete(kind === 'resource' ? normalAddress(key) : key)
    if (isRemoved) this.#notify({ kind, name, change: 'removed' })
    const isLeft = page !== undefined && this.tools.every(({ ui }) => ui?.uri !== page.uri)
    if (isLeft && this.resource(page.uri) === page) this.remove('resource', page.uri)
    return isRemoved
  }

  /** Notifies listeners that what the resource of that URI holds has changed; a template's resource too. */
  updated(uri: string): void {
    const name = requireString('catalog.updated', 'uri', { uri })
    this.#notify({ kind: 'resource', name, change: 'updated' })
  }

  /**
   * Lets a protocol refuse what it could not serve: `check` is called with each new thing added, and throws.
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

  #mapOf(kind: ServedKind): Map<string, Served> {
    return this.#things[kind]
  }

  #notify(change: CatalogChange): void {
    const [group] = this.#things.group.values()
    const [agent] = this.#things.agent.values()
    this.#root = group ?? agent
    this.#scopes = undefined
    for (const listener of [...this.#listeners]) listener(change)
  }
}

function keyOf(thing: Served): string {
  return thing.kind === 'resource' ? normalAddress(thing.uri) : nameOf(thing)
}

/** The name by which a thing is removed. */
function nameOf(thing: Served): string {
  switch (thing.kind) {
    case 'agent':
    case 'group': return thing.id
    case 'resource': return thing.uri
    case 'resource-template': return thing.uriTemplate
    default: return thing.name
  }
}
