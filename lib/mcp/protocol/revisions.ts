/**
 * The five published revisions of MCP. The first row is written out; every later row is only what its
 * changelog says, so this file reads as the protocol's history. Nothing else in the house compares
 * revision dates: what a revision does differently is a value in its row.
 *
 * Spec: https://modelcontextprotocol.io/specification/{name}/changelog
 */
import type { Ability } from '../../define/question.ts'

/** Prefix of the `_meta` keys that the protocol itself uses. */
export const META = 'io.modelcontextprotocol/'

/** One revision, as data. */
export interface Revision {
  /** The date that names it on the wire. */
  readonly name: string
  /** Where the client says who it is and what it can do: in `initialize`, or in each request's `_meta`. */
  readonly opening: 'initialize' | 'each-request'
  /** Whether one POST body may be an array of messages. */
  readonly batches: boolean
  /** Methods a client may call. One that is not here is unknown: absence is removal. */
  readonly methods: ReadonlySet<string>
  /** Members that the definitions of each kind have here; the encoder drops the others. */
  readonly members: Readonly<Record<Entity, readonly Member[]>>
  /** Content blocks it knows; any other is sent as something that it knows. */
  readonly blocks: ReadonlySet<string>
  /** Which values `structuredContent` may have. */
  readonly structured: 'never' | 'objects' | 'any'
  /** Whether a progress notification may carry a text. */
  readonly progressText: boolean
  /** Server capabilities that have a name here. */
  readonly capabilities: ReadonlySet<string>
  /** What a handler may ask the client for. */
  readonly asks: ReadonlySet<Ability>
  /** Whether a field of a form can have several choices, titles in them, and a default of any type. */
  readonly choices: boolean
  /**
   * What a message to the client's model may be: one block of these kinds; `any`: of all kinds, or several.
   */
  readonly sampled: ReadonlySet<string> | 'any'
  /** Whether a client declares that it samples with tools, or adds context. */
  readonly declaresSampling: boolean
  /** How it is asked: by a request on the running stream, or by ending the call with the questions. */
  readonly ask: 'request' | 'round'
  /** How a call becomes a task: where the client wants it (`augmentation`), or where the server does. */
  readonly tasks: 'none' | 'augmentation' | 'extension'
  /** What a client that leaves means for its call. */
  readonly disconnect: 'cancel' | 'ignore'
  /** Whether a stream begins with an event that has an id and no data, and may end before its answer. */
  readonly primes: boolean
  /** Whether results say what they are (`resultType`), who made them and how long they last. */
  readonly stamps: boolean
  /** The error for a resource that is not there. */
  readonly resourceNotFound: number
  /** The HTTP status of an unknown method. */
  readonly unknownMethodStatus: number
  /** The HTTP status where a client lacks a capability that it would need. */
  readonly missingCapabilityStatus: number
}

/**
 * A member of a definition by its name; a pair where it is called otherwise on the wire than in the house.
 */
export type Member = string | readonly [onTheWire: string, inTheHouse: string]

/** Kinds of definitions that revisions shape differently. */
export type Entity =
  | 'tool' | 'resource' | 'template' | 'prompt' | 'argument' | 'implementation' | 'annotations'

const v2024_11_05: Revision = {
  name: '2024-11-05',
  opening: 'initialize',
  batches: false,
  methods: new Set([
    'initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'resources/templates/list',
    'resources/read', 'resources/subscribe', 'resources/unsubscribe', 'prompts/list', 'prompts/get',
    'completion/complete', 'logging/setLevel',
  ]),
  members: {
    tool: ['name', 'description', 'inputSchema'],
    resource: ['uri', 'name', 'description', 'mimeType', 'size', 'annotations'],
    template: ['uriTemplate', 'name', 'description', 'mimeType', 'annotations'],
    prompt: ['name', 'description', 'arguments'],
    argument: ['name', 'description', 'required'],
    implementation: ['name', 'version'],
    annotations: ['audience', 'priority'],
  },
  blocks: new Set(['text', 'image', 'resource']),
  structured: 'never',
  progressText: false,
  capabilities: new Set(['tools', 'resources', 'prompts', 'logging']),
  asks: new Set(['sample', 'roots']),
  choices: false,
  sampled: new Set(['text', 'image']),
  declaresSampling: false,
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
    annotations: [...v2025_03_26.members.annotations, 'lastModified'],
  },
  blocks: new Set([...v2025_03_26.blocks, 'resource_link']),
  structured: 'objects',
  asks: new Set([...v2025_03_26.asks, 'elicit']),
}

const v2025_11_25: Revision = {
  ...v2025_06_18,
  name: '2025-11-25',
  methods: amended(v2025_06_18.methods, [], ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel']),
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
  declaresSampling: true,
  tasks: 'augmentation',
  primes: true,
}

const v2026_07_28: Revision = {
  ...v2025_11_25,
  name: '2026-07-28',
  opening: 'each-request',
  methods: amended(v2025_11_25.methods,
    ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'tasks/result',
      'tasks/list'],
    ['server/discover', 'subscriptions/listen', 'tasks/update']),
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

/** The rows by name; what clients say is looked up here as it comes. */
export const revisionByName: ReadonlyMap<unknown, Revision> =
  new Map(revisions.map((revision) => [revision.name, revision]))

/** What `initialize` answers when it is asked for a revision that it cannot negotiate. */
export const newestNegotiated: Revision = v2025_11_25

/** What a request means that names no revision at all (2025-06-18, Transports, Protocol Version Header). */
export const assumed: Revision = v2025_03_26

/** What the HTTP+SSE pair speaks before, and without, `initialize`. */
export const oldest: Revision = v2024_11_05

/** Those whose requests stand alone. */
export const modern: readonly Revision[] = revisions.filter((revision) => revision.opening === 'each-request')

const modernMethods: ReadonlySet<unknown> = new Set(modern.flatMap(({ methods }) => [...methods]).filter(
  (name) => !revisions.some((other) => other.opening === 'initialize' && other.methods.has(name)),
))

/** Whether only revisions have the method whose requests stand alone. */
export function isModernMethod(name: string | undefined): boolean {
  return modernMethods.has(name)
}
