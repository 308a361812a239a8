/**
 * The five published revisions of MCP: the first is written out, each later one is what its changelog has.
 * No other file compares revision dates: what a revision does differently is a value here.
 *
 * Spec: https://modelcontextprotocol.io/specification/{name}/changelog
 */
import type { Ability } from '../../../kernel/define/question.ts'

export const META = 'io.modelcontextprotocol/'

export interface Revision {
  readonly name: string
  /** Where the client declares itself: in `initialize`, or in each request's `_meta`. */
  readonly opening: 'initialize' | 'each-request'
  readonly batches: boolean
  /** MCP's own methods that a client may call. */
  readonly methods: ReadonlySet<string>
  /** Whether servers may have methods of extensions. */
  readonly extensible: boolean
  /** The members of each kind of definition; others are dropped. */
  readonly members: Readonly<Record<Entity, readonly string[]>>
  /** Content blocks; any other is converted to one of these. */
  readonly blocks: ReadonlySet<string>
  readonly structured: 'never' | 'objects' | 'any'
  readonly progressText: boolean
  readonly capabilities: ReadonlySet<string>
  readonly asks: ReadonlySet<Ability>
  /** Whether a field of a form can have several choices, titles in them, and a default of any type. */
  readonly choices: boolean
  /**
   * A message to the client's model is one block of these kinds. `any`: of all kinds, or several, and the
   * client declares whether it samples with tools, or with context.
   */
  readonly sampled: ReadonlySet<string> | 'any'
  /** How a client is asked: by a request on the running stream, or by a result with the questions. */
  readonly ask: 'request' | 'round'
  /** Who makes a call a task: the client (`augmentation`), or the server (`extension`). */
  readonly tasks: 'none' | 'augmentation' | 'extension'
  /** What happens to a call whose client disconnects. */
  readonly disconnect: 'cancel' | 'ignore'
  /** Whether a stream begins with an event of an id without data, and may end before its answer. */
  readonly primes: boolean
  /** Whether results have `resultType`, `serverInfo` and cache hints. */
  readonly stamps: boolean
  readonly resourceNotFound: number
  readonly unknownMethodStatus: number
  readonly missingCapabilityStatus: number
}

/** Kinds of definitions that revisions shape differently. */
export type Entity =
  | 'tool' | 'resource' | 'template' | 'prompt' | 'argument' | 'implementation'

const v2024_11_05: Revision = {
  name: '2024-11-05',
  opening: 'initialize',
  batches: false,
  methods: new Set([
    'initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'resources/templates/list',
    'resources/read', 'resources/subscribe', 'resources/unsubscribe', 'prompts/list', 'prompts/get',
    'completion/complete', 'logging/setLevel',
  ]),
  extensible: false,
  members: {
    tool: ['name', 'description', 'inputSchema'],
    resource: ['uri', 'name', 'description', 'mimeType', 'size', 'annotations'],
    template: ['uriTemplate', 'name', 'description', 'mimeType', 'annotations'],
    prompt: ['name', 'description', 'arguments'],
    argument: ['name', 'description', 'required'],
    implementation: ['name', 'version'],
  },
  blocks: new Set(['text', 'image', 'resource']),
  structured: 'never',
  progressText: false,
  capabilities: new Set(['tools', 'resources', 'prompts', 'logging']),
  asks: new Set(['sample', 'roots']),
  choices: false,
  sampled: new Set(['text', 'image']),
  ask: 'request',
  tasks: 'none',
  disconnect: 'ignore',
  primes: false,
  stamps: false,
  resourceNotFound: -32002,
  unknownMethodStatus: 200,
  missingCapabilityStatus: 200,
}

const v2025_03_26: Revision = {
  ...v2024_11_05,
  name: '2025-03-26',
  batches: true,
  members: { ...v2024_11_05.members, tool: [...v2024_11_05.members.tool, 'annotations'] },
  blocks: new Set([...v2024_11_05.blocks, 'audio']),
  sampled: new Set(['text', 'image', 'audio']),
  progressText: true,
  capabilities: new Set([...v2024_11_05.capabilities, 'completions']),
}

const v2025_06_18: Revision = {
  ...v2025_03_26,
  name: '2025-06-18',
  batches: false,
  members: {
    tool: [...v2025_03_26.members.tool, 'title', 'outputSchema', '_meta'],
    resource: [...v2025_03_26.members.resource, 'title', '_meta'],
    template: [...v2025_03_26.members.template, 'title', '_meta'],
    prompt: [...v2025_03_26.members.prompt, 'title', '_meta'],
    argument: [...v2025_03_26.members.argument, 'title'],
    implementation: [...v2025_03_26.members.implementation, 'title'],
  },
  blocks: new Set([...v2025_03_26.blocks, 'resource_link']),
  structured: 'objects',
  asks: new Set([...v2025_03_26.asks, 'elicit']),
}

const v2025_11_25: Revision = {
  ...v2025_06_18,
  name: '2025-11-25',
  extensible: true,
  members: {
    ...v2025_06_18.members,
    tool: [...v2025_06_18.members.tool, 'icons', 'execution'],
    resource: [...v2025_06_18.members.resource, 'icons'],
    template: [...v2025_06_18.members.template, 'icons'],
    prompt: [...v2025_06_18.members.prompt, 'icons'],
    implementation: [...v2025_06_18.members.implementation, 'description', 'icons', 'websiteUrl'],
  },
  capabilities: new Set([...v2025_06_18.capabilities, 'tasks']),
  asks: new Set([...v2025_06_18.asks, 'elicit-url']),
  choices: true,
  sampled: 'any',
  tasks: 'augmentation',
  primes: true,
}

const v2026_07_28: Revision = {
  ...v2025_11_25,
  name: '2026-07-28',
  opening: 'each-request',
  methods: amended(v2025_11_25.methods,
    ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'],
    ['server/discover', 'subscriptions/listen']),
  members: {
    ...v2025_11_25.members,
    tool: v2025_11_25.members.tool.filter((member) => member !== 'execution'),
  },
  structured: 'any',
  capabilities: amended(v2025_11_25.capabilities, ['tasks'], []),
  ask: 'round',
  tasks: 'extension',
  disconnect: 'cancel',
  primes: false,
  stamps: true,
  resourceNotFound: -32602,
  unknownMethodStatus: 404,
  missingCapabilityStatus: 400,
}

function amended(
  known: ReadonlySet<string>, removed: readonly string[], added: readonly string[],
): ReadonlySet<string> {
  return new Set([...[...known].filter((name) => !removed.includes(name)), ...added])
}

/** Newest first: the order in which they are advertised. */
export const revisions: readonly Revision[] = [
  v2026_07_28, v2025_11_25, v2025_06_18, v2025_03_26, v2024_11_05,
]

/** By name; the keys are unknown because clients' values are looked up as they come. */
export const revisionByName: ReadonlyMap<unknown, Revision> =
  new Map(revisions.map((revision) => [revision.name, revision]))

/** The answer of `initialize` to an unknown revision. */
export const newestNegotiated: Revision = v2025_11_25

/** The revision of a request that names none (2025-06-18, Transports, Protocol Version Header). */
export const assumed: Revision = v2025_03_26

/** The revision of HTTP+SSE and stdio before, and without, `initialize`. */
export const oldest: Revision = v2024_11_05

/** Revisions without `initialize`: each request stands alone. */
export const modern: readonly Revision[] = revisions.filter((revision) => revision.opening === 'each-request')
