/**
 * The A2A door: for the root, and for every agent and group, the paths of both bindings, the card and the
 * status. What is said there is the binding's; what stands in the card is the card's.
 */
import { errorReply, refusalError, rpcError } from '../../wire/jsonrpc.ts'
import { A2A_JSON_TYPE, JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { encodeHttpRefusal, encodeRpcFault, encodeV1Error, encodeV1Fault } from '../codec/errors.ts'
import { versionOf } from '../model/dialect.ts'
import { A2aFault } from '../model/faults.ts'
import { pushSettingsOf } from '../model/push-address.ts'
import { signerOf } from '../model/signature.ts'
import { agentNamed, rootOf } from '../model/tool-agent.ts'
import { routes } from './http-json-routes.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Endpoint, Exchange, MethodOperations, Refusal, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { RpcError } from '../../wire/jsonrpc.ts'
import type { Seal } from '../../wire/seal.ts'
import type { Dialect, Version } from '../model/dialect.ts'
import type { A2aOptions } from '../model/options.ts'
import type { PushStatus } from '../push/push-delivery.ts'
import type { A2aAnswers } from './answers.ts'

/** Where clients look for a card: since A2A 0.3, and before. */
const CARD = '/.well-known/agent-card.json'
const OLD_CARD = '/.well-known/agent.json'

/** Below the address of an agent: where clients of A2A 0.2 get the extended card. */
const OLD_EXTENDED_CARD = '/agent/authenticatedExtendedCard'

type AgentResolver = (exchange: Exchange) => Agent | Group | undefined
type Answer = (answers: A2aAnswers, exchange: Exchange, agent: Agent | Group) => Reply | Promise<Reply>
/** What OpenAPI says of a path, of what the file about that has. */
type Said = (all: typeof import('./openapi-operations.ts')) => MethodOperations

/** A door: where it answers, and the webhooks that go out of it. */
export interface A2aDoor {
  readonly endpoints: readonly Endpoint[]
  /** Undefined where nothing is posted. */
  readonly push: Webhooks | undefined
}

const idleStatus: PushStatus = { waiting: 0, posting: 0, lookups: 0, bytes: 0 }

/** What is posted to addresses that clients name. */
export interface Webhooks {
  readonly status: PushStatus
  /** Resolves when nothing waits, or after `ms`. */
  idle(ms: number): Promise<void>
  close(): Promise<void>
}

/** Opens the door. Throws `TypeError` and `RangeError` for options that cannot be meant. */
export function a2aRoutes(service: Service, options: A2aOptions, seal: Seal): A2aDoor {
  const signer = options.signingKey === undefined ? undefined : signerOf(options.signingKey)
  const settings = pushSettingsOf(options.pushNotifications)
  let answers: A2aAnswers | undefined
  const load = async (): Promise<A2aAnswers> => {
    const { A2aAnswers } = await import('./answers.ts')
    return answers ??= new A2aAnswers({ service, options, seal, signer }, settings)
  }
  const paths = new Paths(service, options, load)
  const places: readonly (readonly [base: string, resolveAgent: AgentResolver])[] = [
    ['', () => rootOf(service)],
    ['/agents/{agent}', (exchange) => agentNamed(service, exchange.params.get('agent') ?? '')],
  ]
  const hasTenants = options.tenants !== undefined && options.tenants.length > 0
  const endpoints = [
    ...places.flatMap(([base, resolveAgent]) => paths.below(base, resolveAgent)),
    // Last, because a tenant's segment takes any name: those of other paths are no tenants.
    ...hasTenants
      ? places.flatMap(([base, resolveAgent]) => paths.routesBelow(`${base}/{tenant}`, resolveAgent)) : [],
  ]
  if (settings === undefined && service.shared === undefined) return { endpoints, push: undefined }
  // What another process has left, and what is registered there, does not wait for a request.
  const loading = load().catch((cause: unknown) => {
    service.log('error', 'What answers A2A could not be loaded', { cause })
    return undefined
  })
  return settings === undefined ? { endpoints, push: undefined } : {
    endpoints,
    push: {
      get status() { return answers?.push?.status ?? idleStatus },
      idle: async (ms) => (await loading)?.push?.idle(ms),
      close: async () => (await loading)?.push?.close(),
    },
  }
}

/** Throws `TypeError` where this door is asked for and there is nobody to talk to. */
export function requireAnswerer(service: Service): void {
  if (rootOf(service) !== undefined) return
  throw new TypeError(`protocol 'a2a' needs an agent or a tool: A2A clients send messages; `
    + `add agents: [agent] or tools: [tool], or serve resources and prompts with protocol: 'mcp'`)
}

/** The paths of one server. */
class Paths {
  readonly #service: Service
  readonly #options: A2aOptions
  readonly #load: () => Promise<A2aAnswers>
  #answers: A2aAnswers | undefined

  constructor(service: Service, options: A2aOptions, load: () => Promise<A2aAnswers>) {
    this.#service = service
    this.#options = options
    this.#load = load
  }

  readonly #loaded = (): Promise<void> | undefined => (
    this.#answers === undefined ? this.#load().then((answers) => { this.#answers = answers }) : undefined
  )

  /** `base` is '' or has the `{agent}` that `resolveAgent` looks for. */
  below(base: string, resolveAgent: AgentResolver): readonly Endpoint[] {
    const messages = (path: string): Endpoint => this.#addressed(resolveAgent, {
      path: base + path,
      methods: ['POST'],
      accepts: [JSON_TYPE],
      refuse: refuseMessage,
    }, ({ sendOperation: post }) => ({ post }), (answers, exchange, agent) => (
      answers.message(exchange, agent)
    ))

    const card = (path: string): Endpoint => this.#addressed(resolveAgent, {
      path: base + path,
      methods: ['GET'],
      open: 'public',
      // A refusal of a card or a status is for people and browsers.
      refuse: problemReply,
    }, ({ cardOperation: get }) => ({ get }), (answers, exchange, agent) => (
      answers.card(exchange, agent, base === '' ? '' : `/agents/${agent.id}`)
    ))

    return [
      // Before the card of the same path: what neither takes, preflights too, is answered as the first would.
      ...['/a2a', '/a2a/'].map(messages),
      ...['/a2a', '/a2a/'].map(card),
      ...['', '/a2a'].flatMap((at) => [`${at}${CARD}`, `${at}${OLD_CARD}`]).map(card),
      ...this.routesBelow(base, resolveAgent),
      // There only where there is something to find.
      ...this.#options.extendedCard === undefined ? [] : [this.#addressed(resolveAgent, {
        path: base + OLD_EXTENDED_CARD, methods: ['GET'], refuse: problemReply,
      }, ({ oldExtendedCardOperation: get }) => ({ get }), (answers, exchange, agent) => (
        answers.oldCard(exchange, agent)
      ))],
      this.#status(base, resolveAgent),
    ]
  }

  /** The paths of HTTP+JSON. */
  routesBelow(base: string, resolveAgent: AgentResolver): readonly Endpoint[] {
    return routes.map((route) => this.#addressed(resolveAgent, {
      path: base + route.path,
      methods: route.methods,
      ...route.body !== undefined && { accepts: bodyTypes, bodyIsOptional: route.body === 'optional' },
      refuse: refuseHttpJson,
    }, ({ httpJsonOperation }) => (
      Object.fromEntries(route.methods.map((name) => [name.toLowerCase(), httpJsonOperation(route)]))
    ), (answers, exchange, agent) => answers.route(exchange, agent, route)))
  }

  #status(base: string, resolveAgent: AgentResolver): Endpoint {
    return {
      path: `${base}/status`,
      methods: ['GET'],
      open: 'public',
      refuse: problemReply,
      describe: this.#described(base, ({ statusOperation: get }) => ({ get })),
      handle: (exchange) => {
        const agent = resolveAgent(exchange)
        return agent === undefined ? refuseNobody(problemReply, exchange) : status(this.#service, agent)
      },
    }
  }

  /** An endpoint that speaks for somebody, and is refused where there is nobody. */
  #addressed(
    resolveAgent: AgentResolver, rest: Omit<Endpoint, 'handle'>, said: Said, answer: Answer,
  ): Endpoint {
    return {
      ...rest,
      describe: this.#described(rest.path, said),
      load: this.#loaded,
      handle: (exchange) => {
        const agent = resolveAgent(exchange)
        if (agent === undefined) return refuseNobody(rest.refuse, exchange)
        return answer(this.#answers!, exchange, agent)
      },
    }
  }

  #described(path: string, said: Said): NonNullable<Endpoint['describe']> {
    return async () => {
      const words = await import('./openapi-operations.ts')
      const operations = said(words)
      const components = words.a2aComponents
      if (!path.includes('{agent}')) return { operations, components }
      const { catalog } = this.#service
      const all = [rootOf(this.#service), ...catalog.groups, ...catalog.agents]
      const ids = all.flatMap((agent) => agent?.id ?? [])
      return { named: new Map(ids.map((id) => [id, operations])), components }
    }
  }
}

function refuseNobody(refuse: Endpoint['refuse'], exchange: Exchange): Reply {
  const { requestId } = exchange.origin
  return refuse({ status: 404, detail: 'There is no such agent here', requestId, asked: exchange })
}

function status(service: Service, { name, version = service.version }: Agent | Group): Reply {
  return { status: 200, type: JSON_TYPE, body: JSON.stringify({ status: 'ok', name, version }) }
}

/** Media types of a body of HTTP+JSON. */
export const bodyTypes: readonly string[] = Object.freeze([JSON_TYPE, A2A_JSON_TYPE])

/** How errors are spelled: of a dialect, what need not be loaded with it. */
type Spelling = Pick<Dialect, 'encodeFault' | 'encodeError'>

/** The spelling of each version that has one of its own, and the one of all others. */
const spellings: ReadonlyMap<Version, Spelling> = new Map([
  ['1.0', { encodeFault: encodeV1Fault, encodeError: encodeV1Error }],
])
const usual: Spelling = { encodeFault: encodeRpcFault, encodeError: rpcError }

/** Refuses what was sent as JSON-RPC, in the words of the version that its client says it speaks. */
export function refuseMessage(refusal: Refusal): Reply {
  return errorReply(null, errorFor(refusal), refusal.status, refusal.headers)
}

function errorFor(refusal: Refusal): RpcError {
  const { status, detail, asked } = refusal
  const { encodeFault, encodeError } = spellings.get(asked && versionOf(asked)) ?? usual
  if (status !== 415) return encodeError(refusalError(refusal).code, detail)
  return encodeFault(new A2aFault('CONTENT_TYPE_NOT_SUPPORTED', detail), detail)
}

/** Refuses what was sent as HTTP+JSON. */
export function refuseHttpJson({ status, detail, headers }: Refusal): Reply {
  const reason = status === 415 ? 'CONTENT_TYPE_NOT_SUPPORTED' : undefined
  const body = JSON.stringify(encodeHttpRefusal(status, detail, reason).body)
  return { status, type: JSON_TYPE, body, ...headers !== undefined && { headers } }
}
