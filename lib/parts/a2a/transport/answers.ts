/**
 * What answers at the paths of A2A: both bindings, the cards, the webhooks. `routes.ts` loads this file, and
 * with it most of the room, when a first request or a webhook needs it.
 */
import { recoveryOf, tasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { createCards, oldExtendedCard } from '../card/card-replies.ts'
import { HttpJsonCall } from './http-json.ts'
import { answerJsonRpc } from './jsonrpc.ts'
import { pushSettingsOf } from '../model/push-settings.ts'
import { Push } from '../push/push.ts'
import { a2aRunner } from '../tasks/agent-turn.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { Cards } from '../card/card-replies.ts'
import type { Route } from './http-json-routes.ts'
import type { A2aContext, A2aSetup } from '../tasks/request.ts'

export class A2aAnswers {
  readonly #context: A2aContext
  readonly card: Cards
  /** Posts the events of tasks. Undefined: nothing does. */
  readonly push: Push | undefined

  constructor(setup: A2aSetup) {
    const { service, options, signer } = setup
    const settings = pushSettingsOf(options.pushNotifications)
    this.push = settings && new Push(service, settings)
    this.#context = { ...setup, tasks: tasksOf(service), push: this.push }
    this.card = createCards(service, options, signer)
    recoveryOf(service)?.register('a2a', a2aRunner(service))
  }

  message(exchange: Exchange, agent: Agent | Group): MaybePromise<Reply> {
    return answerJsonRpc(this.#context, agent, exchange)
  }

  route(exchange: Exchange, agent: Agent | Group, route: Route): MaybePromise<Reply> {
    return new HttpJsonCall(this.#context, agent, route, exchange).reply()
  }

  oldCard(exchange: Exchange, agent: Agent | Group): MaybePromise<Reply> {
    return oldExtendedCard({ ...this.#context, agent, exchange })
  }
}
