/**
 * The paths of A2A: for the root, and for every agent and group, both bindings, the card and the status.
 * What answers them is loaded when a first request needs it.
 */
import { sharedOf } from '../../../floors/shared/shared-of.ts'
import { allowed } from '../../../kernel/define/principal.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { errorReply, refusalError } from '../../../floors/jsonrpc/jsonrpc.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { problemReply } from '../../../kernel/wire/problem.ts'
import { encodeHttpRefusal, oldErrors, v1Errors } from '../codec/errors.ts'
import { A2A_JSON_TYPE, jsonTypeFor, versionOf } from '../model/dialect.ts'
import { A2aFault } from '../model/faults.ts'
import { pushSettingsOf } from '../model/push-settings.ts'
import { signerOf } from '../model/signature.ts'
import { agentNamed, rootOf } from '../model/tool-agent.ts'
import { routes } from './http-json-routes.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type {
  Endpoint, Exchange, MethodOperations, Refusal, Reply,
} from '../../../kernel/http/message/exchange.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { RpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { Seal } from '../../../kernel/wire/seal.ts'
import type { A2aLimits } from '../model/limits.ts'
import type { A2aOptions, A2aSetup } from '../model/options.ts'
import type { Push, PushStatus } from '../push/push.ts'
import type { A2aAnswers } from './answers.ts'

/** Paths of a card: since A2A 0.3, and before. */
const CARD = '/.well-known/agent-card.json'
const OLD_CARD = '/.well-known/agent.json'

/** Below the address of an agent: where clients of A2A 0.2 get the extended card. */
const OLD_EXTENDED_CARD = '/agent/authenticatedExtendedCard'

/** One endpoint of an agent, before its paths are known. */
interface AgentEndpoint extends Omit<Endpoint, 'path' | 'handle' | 'describe'> {
  /** Left out: loads what answers. */
  readonly load?: NonNullable<Endpoint['load']>
  /** Its entry in OpenAPI, of those in that file. */
  readonly operations: (all: typeof import('./openapi-operations.ts')) => MethodOperations
  readonly answer: (answers: A2aAnswers, exchange: Exchange, agent: Agent | Group) => MaybePromise<Reply>
}

export interface A2aRoutes {
  readonly endpoints: readonly Endpoint[]
  /** Undefined where nothing is posted. */
  readonly push: Webhooks | undefined
}

const aboutCard = { title: 'A2A agent card', text: 'how to send messages to the agent', rank: 2 }
/** An agent is reached by its card. */
const aboutAgent = { text: '', rank: 2 }

const idleStatus: PushStatus = { waiting: 0, posting: 0, lookups: 0, bytes: 0 }

/** What is posted to addresses that clients name. */
type Webhooks = Pick<Push, 'status' | 'idle' | 'close'>

/** Makes the endpoints. Throws `TypeError` and `RangeError` for options that cannot be meant. */
export function a2aRoutes(
  service: Service, options: A2aOptions, limits: A2aLimits, seal: Seal,
): A2aRoutes {
  const signer = options.signingKey === undefined ? undefined : signerOf(options.signingKey)
  const posts = pushSettingsOf(options.pushNotifications) !== undefined
  const paths = new Paths({ service, options, limits, seal, signer })
  const bases = ['', '/agents/{agent}']
  const hasTenants = options.tenants !== undefined && options.tenants.length > 0
  const endpoints = [
    ...bases.flatMap((base) => paths.of(base)),
    // Last, because a tenant's segment takes any name: those of other paths are no tenants.
    ...hasTenants ? bases.flatMap((base) => paths.httpJson(`${base}/{tenant}`)) : [],
  ]
  if (!posts && sharedOf(service) === undefined) return { endpoints, push: undefined }
  // What another process has left, and what is registered there, does not wait for a request.
  const loading = paths.load().catch((cause: unknown) => {
    service.log('error', 'What answers A2A could not be loaded', { cause })
  })
  return {
    endpoints,
    push: !posts ? undefined : {
      get status() { return paths.answers?.push?.status ?? idleStatus },
      idle: (ms) => loading.then(() => paths.answers?.push?.idle(ms)),
      close: () => loading.then(() => paths.answers?.push?.close()),
    },
  }
}

class Paths {
  readonly #service: Service
  readonly #context: A2aSetup
  answers: A2aAnswers | undefined

  constructor(context: A2aSetup) {
    this.#service = context.service
    this.#context = context
  }

  async load(): Promise<void> {
    const { createAnswers } = await import('./answers.ts')
    this.answers ??= createAnswers(this.#context)
  }

  /** `base` is '' or has an `{agent}`. */
  of(base: string): readonly Endpoint[] {
    const { service: { catalog, version: ours }, options: { extendedCard } } = this.#context
    const at = (endpoint: AgentEndpoint, ...paths: readonly string[]): readonly Endpoint[] => (
      paths.map((path) => this.#endpoint(base + path, endpoint))
    )
    const card: AgentEndpoint = {
      methods: ['GET'],
      open: 'public',
      // A refusal of a card or a status is for people and browsers.
      refuse: problemReply,
      operations: ({ cardOperation: get }) => ({ get }),
      answer: (answers, exchange, agent) => answers.card(exchange, agent),
    }
    return [
      // Before the card of the same path: what neither takes, preflights too, is answered as the first would.
      ...at({
        methods: ['POST'], accepts: [JSON_TYPE], refuse: refuseMessage,
        operations: ({ sendOperation: post }) => ({ post }),
        answer: (answers, exchange, agent) => answers.message(exchange, agent),
      }, '/a2a'),
      ...at(card, '/a2a'),
      ...at({ ...card, about: base === '' ? aboutCard : aboutAgent }, CARD),
      ...at(card, OLD_CARD, `/a2a${CARD}`, `/a2a${OLD_CARD}`),
      ...this.httpJson(base),
      ...at({
        methods: ['GET'], refuse: problemReply,
        isOffered: () => extendedCard !== undefined || catalog.scopes.length > 0,
        operations: ({ oldExtendedCardOperation: get }) => ({ get }),
        answer: (answers, exchange, agent) => answers.oldCard(exchange, agent),
      }, OLD_EXTENDED_CARD),
      ...at({
        methods: ['GET'], open: 'public', refuse: problemReply,
        load: () => undefined,
        operations: ({ statusOperation: get }) => ({ get }),
        answer: (_answers, _exchange, { name, version = ours }) => (
          { status: 200, type: JSON_TYPE, body: formatJson({ status: 'ok', name, version }) }
        ),
      }, '/status'),
    ]
  }

  httpJson(base: string): readonly Endpoint[] {
    return routes.map((route) => this.#endpoint(base + route.path, {
      methods: route.methods,
      ...route.body !== undefined && { accepts: bodyTypes, bodyIsOptional: route.body === 'optional' },
      refuse: refuseHttpJson,
      operations: ({ httpJsonOperation }) => (
        Object.fromEntries(route.methods.map((name) => [name.toLowerCase(), httpJsonOperation(route)]))
      ),
      answer: (answers, exchange, agent) => answers.route(exchange, agent, route),
    }))
  }

  #endpoint(path: string, { operations, answer, ...rest }: AgentEndpoint): Endpoint {
    return {
      load: () => this.answers === undefined ? this.load() : undefined,
      ...rest,
      path,
      // What follows the id of a task is an operation, and those that are known have paths of their own.
      mayName: (params) => params.has('taskId') || params.get('id')?.includes(':') !== true,
      describe: this.#described(path, operations),
      handle: (exchange) => {
        const { params, origin: { requestId } } = exchange
        const id = params.get('agent')
        const agent = id === undefined ? rootOf(this.#service) : agentNamed(this.#service, id)
        if (agent !== undefined) return answer(this.answers!, exchange, agent)
        return rest.refuse({ status: 404, detail: 'There is no such agent here', requestId, asked: exchange })
      },
    }
  }

  #described(path: string, operationsOf: AgentEndpoint['operations']): NonNullable<Endpoint['describe']> {
    return async (principal) => {
      const all = await import('./openapi-operations.ts')
      const operations = operationsOf(all)
      const components = all.a2aComponents
      if (!path.includes('{agent}')) return { operations, components }
      const { catalog } = this.#service
      const root = rootOf(this.#service)
      const agents = [...root === undefined ? [] : [root], ...catalog.groups, ...catalog.agents]
      const ids = allowed(principal, agents).map(({ id }) => id)
      return { named: new Map(ids.map((id) => [id, operations])), components }
    }
  }
}

const bodyTypes: readonly string[] = Object.freeze([JSON_TYPE, A2A_JSON_TYPE])

/** Refuses unread JSON-RPC, in the form of the version that its client asks for. */
function refuseMessage(refusal: Refusal): Reply {
  return errorReply(null, errorFor(refusal), refusal.status, refusal.headers)
}

function errorFor(refusal: Refusal): RpcError {
  const { status, detail, asked } = refusal
  const { encodeFault, encodeError } = asked && versionOf(asked) === '1.0' ? v1Errors : oldErrors
  if (status !== 415) return encodeError(refusalError(refusal).code, detail)
  return encodeFault(new A2aFault('CONTENT_TYPE_NOT_SUPPORTED', detail), detail)
}

/** Refuses unread HTTP+JSON. */
function refuseHttpJson({ status, detail, headers, asked }: Refusal): Reply {
  const reason = status === 415 ? 'CONTENT_TYPE_NOT_SUPPORTED' : undefined
  const body = formatJson(encodeHttpRefusal(status, detail, reason).body)
  const type = asked === undefined ? JSON_TYPE : jsonTypeFor(asked.head)
  return { status, type, body, ...headers !== undefined && { headers } }
}
