/**
 * What answers at the paths of A2A: both bindings, the cards, the webhooks. `routes.ts` loads this file, and
 * with it most of the room, when a first request or a webhook needs it.
 */
import { recoveryOf, tasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { createCards, oldExtendedCard } from '../card/card-replies.ts'
import { answerHttpJson } from './http-json.ts'
import { answerJsonRpc } from './jsonrpc.ts'
import { pushSettingsOf } from '../model/push-settings.ts'
import { Push } from '../push/push.ts'
import { a2aRunner } from '../tasks/turn-runner.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { Route } from './http-json-routes.ts'
import type { A2aSetup } from '../model/options.ts'
import type { A2aContext } from '../tasks/request.ts'

type Answer<More extends readonly unknown[] = []> = (
  exchange: Exchange, agent: Agent | Group, ...more: More
) => MaybePromise<Reply>

export interface A2aAnswers {
  /** Posts the events of tasks. Undefined: nothing does. */
  readonly push: Push | undefined
  readonly card: Answer
  readonly message: Answer
  readonly route: Answer<[Route]>
  readonly oldCard: Answer
}

export function createAnswers(setup: A2aSetup): A2aAnswers {
  const { service, options, signer } = setup
  const settings = pushSettingsOf(options.pushNotifications)
  const tasks = tasksOf(service)
  const push = settings && new Push(service, settings)
  const context: A2aContext = { ...setup, tasks, push }
  recoveryOf(service)?.register('a2a', a2aRunner(service, tasks))
  return {
    push,
    card: createCards(service, options, signer),
    message: answerJsonRpc.bind(undefined, context),
    route: answerHttpJson.bind(undefined, context),
    oldCard: oldExtendedCard.bind(undefined, context),
  }
}
