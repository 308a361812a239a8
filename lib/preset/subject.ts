/** What `launch` and the command serve, sorted by kind: a bare function, definitions, lists of them. */
import { groupFrom } from '../kernel/define/agent.ts'
import { isRecord } from '../kernel/define/content.ts'
import { defineOffer, defineThing, offered } from '../kernel/define/normalize-definitions.ts'
import { rejectUnknown } from '../kernel/define/validate.ts'
import type { Adapters, ForeignAgent } from '../kernel/define/adapters.ts'
import type { Agent, AgentDefinition, Group, Run } from '../kernel/define/agent.ts'
import type {
  Defined, ForeignTools, LoneTool, Offer, Only, Other, Thing,
} from '../kernel/define/normalize-definitions.ts'
import type { Tool } from '../kernel/define/tool.ts'

/** Things by kind, with tools of other frameworks: what their arguments are, these know. */
export type ForeignOffer = Omit<Offer, 'tools'> & { readonly tools: ForeignTools }

/** What has agents or tools of other frameworks: an agent, a list, or things by kind. */
export type ForeignSubject =
  | ForeignAgent | ForeignOffer
  | readonly (Unmarked<ForeignAgent> | Only<AgentDefinition> | Only<Run> | Agent | Group | Tool)[]

/** What has no kind of ours: a compiler then knows what the functions beside it get. */
type Unmarked<T> = T & { readonly kind?: undefined }

/** Several, whose handlers' arguments are inferred one by one from the types `T` of their schemas. */
export type Things<T extends readonly unknown[]> = {
  readonly [K in keyof T]: Other | (unknown extends T[K] ? Only<AgentDefinition> : LoneTool<T[K]>)
}

/** What `launch` takes: one thing, a list of things, or things by kind. */
export type Subject<T extends readonly unknown[] = readonly unknown[]> =
  Thing | Only<Offer<T>> | Only<readonly Thing[]>

/**
 * Sorts a subject. A list of two or more agents is a group named `name`, in sequence, unless it holds a
 * group already. Throws `TypeError` for what can be none of the kinds.
 */
export function normalizeDefinitions(subject: Subject, name: string, adapters: Adapters): Defined {
  if (adapters.agent(subject) === undefined && isOffer(subject)) {
    rejectUnknown('What is served', subject, Object.keys(offered))
    return defineOffer(subject, adapters)
  }
  const things: readonly unknown[] = [subject].flat()
  const all = things.map((thing) => defineThing(thing, adapters))
  const defined = {
    agents: all.filter((thing) => thing.kind === 'agent'),
    groups: all.filter((thing) => thing.kind === 'group'),
    tools: all.filter((thing) => thing.kind === 'tool'),
    resources: all.filter((thing) => thing.kind === 'resource'),
    resourceTemplates: all.filter((thing) => thing.kind === 'resource-template'),
    prompts: all.filter((thing) => thing.kind === 'prompt'),
  }
  if (!Array.isArray(subject) || defined.groups.length > 0 || defined.agents.length < 2) return defined
  return { ...defined, groups: [groupFrom({ name, agents: defined.agents }, adapters)] }
}

/** Whether a subject is things by kind. A group has agents too, but a name as well. */
function isOffer(subject: Subject): subject is Offer {
  if (!isRecord(subject) || 'run' in subject) return false
  const found = Object.keys(offered).filter((member) => member in subject)
  return found.some((member) => member !== 'agents' || !('name' in subject))
}
