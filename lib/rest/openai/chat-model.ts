/**
 * A model, as clients of OpenAI name it: an agent or a group.
 */
import { Fault } from '../../define/fault.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Service } from '../../run/service.ts'

/** Whom a client means by `model`. Throws `Fault('not-found')` where there is nobody. */
export function requireModel({ catalog }: Service, id: string): Agent | Group {
  const who = catalog.runnable(id)
  if (who !== undefined) return who
  const remedy = 'GET /v1/models lists those there are'
  const detail = { param: 'model', code: 'model_not_found' }
  throw new Fault('not-found', `The model '${id.slice(0, 60)}' does not exist; ${remedy}`, detail)
}
