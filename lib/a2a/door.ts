/**
 * The A2A door: for the root, and for every agent and group, the paths of both bindings, the card and the
 * status. What is said there is the binding's; what stands in the card is the card's.
 */
import { JSON_TYPE } from '../wire/media.ts'
import { problemReply } from '../wire/problem.ts'
import { createCards } from './cards.ts'
import { answerRoute, bodyTypes, refuseHttpJson } from './http-json.ts'
import { routes } from './http-json-routes.ts'
import { receive, refuseMessage } from './jsonrpc.ts'
import { OLD_EXTENDED_CARD, oldExtendedCard } from './old-extended-card.ts'
import {
  a2aComponents, cardOperation, oldExtendedCardOperation, sendOperation, statusOperation,
} from './openapi-operations.ts'
import { a2aRunner } from './rerun.ts'
import { signerOf } from './signature.ts'
import { agentNamed, rootOf } from './tool-agent.ts'
import type { Agent, Group } from '../core/agent.ts'
import type { Service } from '../core/service.ts'
import type { Description, Endpoint, Exchange, MethodOperations, Reply } from '../http/exchange.ts'
import type { Seal } from '../wire/seal.ts'
import type { Cards } from './cards.ts'
import type { Operation } from './openapi-operations.ts'
import type { A2aContext } from './visit.ts'
import type { A2aOptions } from './options.ts'

/** Where clients look for a card: since A2A 0.3, and before. */
const CARD = '/.well-known/agent-card.json'
const OLD_CARD = '/.well-known/agent.json'

type Whom = (exchange: Exchange) => Agent | Group | undefined
type Answer = (exchange: Exchange, who: Agent | Group) => Reply | Promise<Reply>

/** The paths of this door. */
export function a2aEndpoints(service: Service, options: A2aOptions, seal: Seal): readonly Endpoint[] {
  const signer = options.signingKey === undefined ? undefined : signerOf(options.signingKey)
  const context = { service, options, seal, signer }
  service.shared?.recovery.register('a2a', a2aRunner(service))
  const cards = createCards(service, options, signer)
  const places: readonly (readonly [base: string, whoOf: Whom])[] = [
    ['', () => rootOf(service)],
    ['/agents/{agent}', (exchange) => agentNamed(service, exchange.params.get('agent') ?? '')],
  ]
  const hasTenants = options.tenants !== undefined && options.tenants.length > 0
  const endpoints = [
    ...places.flatMap(([base, whoOf]) => endpointsBelow(base, context, cards, whoOf)),
    // Last, because a tenant's segment takes any name: those of other paths are no tenants.
    ...hasTenants ? places.flatMap(([base, whoOf]) => routesBelow(`${base}/{tenant}`, context, whoOf)) : [],
  ]
  return endpoints.map((endpoint) => endpoint.path.includes('{agent}')
    ? { ...endpoint, describe: () => describeEach(service, endpoint.operations ?? {}) } : endpoint)
}

/** What is said of a path that everybody has who can be named. */
function describeEach(service: Service, operations: MethodOperations): Description {
  const { catalog } = service
  const ids = [rootOf(service), ...catalog.groups, ...catalog.agents].flatMap((who) => who?.id ?? [])
  return { operations: new Map(ids.map((id) => [id, operations])), schemas: {} }
}

/** Throws `TypeError` where this door is asked for and there is nobody to talk to. */
export function requireAnswerer(service: Service): void {
  if (rootOf(service) !== undefined) return
  throw new TypeError(`protocol 'a2a' needs an agent or a tool: A2A clients send messages; `
    + `add agents: [agent] or tools: [tool], or serve resources and prompts with protocol: 'mcp'`)
}

/** `base` is '' or has the `{agent}` that `whoOf` looks for. */
function endpointsBelow(
  base: string, context: A2aContext, cards: Cards, whoOf: Whom,
): readonly Endpoint[] {
  const messages = (path: string): Endpoint => addressed(whoOf, {
    path: base + path,
    methods: ['POST'],
    accepts: [JSON_TYPE],
    operations: { post: sendOperation },
    refuse: refuseMessage,
  }, (exchange, who) => receive(context, who, exchange))

  const open = (path: string, get: Operation, answer: Answer): Endpoint => addressed(whoOf, {
    path: base + path,
    methods: ['GET'],
    open: 'public',
    operations: { get },
    // A refusal of a card or a status is for people and browsers.
    refuse: problemReply,
  }, answer)

  const card = (path: string): Endpoint => open(path, cardOperation,
    (exchange, who) => cards(exchange, who, base === '' ? '' : `/agents/${who.id}`))

  return [
    // Before the card of the same path: what neither takes, preflights too, is answered as the first would.
    ...['/a2a', '/a2a/'].map(messages),
    ...['/a2a', '/a2a/'].map(card),
    ...['', '/a2a'].flatMap((at) => [`${at}${CARD}`, `${at}${OLD_CARD}`]).map(card),
    ...routesBelow(base, context, whoOf),
    // There only where there is something to find.
    ...context.options.extendedCard === undefined ? [] : [addressed(whoOf, {
      path: base + OLD_EXTENDED_CARD, methods: ['GET'], operations: { get: oldExtendedCardOperation },
      refuse: problemReply,
    }, (exchange, who) => oldExtendedCard({ ...context, who, exchange }))],
    open('/status', statusOperation, (_, who) => status(context.service, who)),
  ]
}

/** The paths of HTTP+JSON. */
function routesBelow(base: string, context: A2aContext, whoOf: Whom): readonly Endpoint[] {
  return routes.map((route) => addressed(whoOf, {
    path: base + route.path,
    methods: route.methods,
    ...route.body !== undefined && { accepts: bodyTypes, bodyIsOptional: route.body === 'optional' },
    operations: Object.fromEntries(route.methods.map((name) => [name.toLowerCase(), route.description])),
    refuse: refuseHttpJson,
  }, (exchange, who) => answerRoute(context, who, route, exchange)))
}

/** An endpoint that speaks for somebody, and is refused where there is nobody. */
function addressed(whoOf: Whom, rest: Omit<Endpoint, 'handle'>, answer: Answer): Endpoint {
  return {
    ...rest,
    components: a2aComponents,
    handle(exchange) {
      const who = whoOf(exchange)
      if (who !== undefined) return answer(exchange, who)
      const { requestId } = exchange.origin
      return rest.refuse({ status: 404, detail: 'There is no such agent here', requestId })
    },
  }
}

function status(service: Service, { name, version = service.version }: Agent | Group): Reply {
  return { status: 200, type: JSON_TYPE, body: JSON.stringify({ status: 'ok', name, version }) }
}
