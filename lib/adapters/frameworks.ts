/**
 * All frameworks that are known: their agents, tools, answers and schemas are taken as if they were ours; and
 * the pages of tools.
 */
import { adaptedAgent, agentChecks } from '../kernel/define/agent.ts'
import { isRecord } from '../kernel/define/content.ts'
import { rejectMore, rejectPromise, rejectUnknown, show } from '../kernel/define/validate.ts'
import { Later } from '../kernel/util/later.ts'
import { toolUiOf } from '../parts/apps/tool-ui.ts'
import { schemaForm } from './schemas/schema-form.ts'
import { adaptAgent, describeUnknown } from './shared/agents.ts'
import { foreignWords } from './shared/foreign-words.ts'
import { toolDefinition } from './shared/tool-definition.ts'
import { foreignToolKind } from './shared/tools.ts'
import type { Adapters, ForeignAgent } from '../kernel/define/adapters.ts'
import type { AdaptOptions, Agent } from '../kernel/define/agent.ts'

export const frameworks: Adapters = Object.freeze({
  agent: adaptAgent, toolKind: foreignToolKind, tool: toolDefinition, describe: describeUnknown,
  results: new Later(async () => (await import('./shared/results.ts')).foreignResults),
  words: foreignWords, schemaForm,
  toolUi: toolUiOf,
})

/**
 * Makes an agent of one of another framework, with another name, description or limit. Where nothing is to be
 * changed, the agent may be given as it is. Throws `TypeError` for what is no agent of a framework that is
 * known.
 */
export function adapt(agent: ForeignAgent, options: AdaptOptions = {}): Agent {
  rejectMore('adapt', arguments, `write adapt(agent, { name: 'Helper' })`, 2)
  const { run: _run, kind: _kind, ...known } = agentChecks
  rejectUnknown('adapt', options, Object.keys(known))
  const theirs = frameworks.agent(agent)
  if (theirs !== undefined) return adaptedAgent(theirs, options)
  rejectPromise(agent)
  const isOwn = typeof agent === 'function' || (isRecord(agent) && 'run' in agent)
  const remedy = isOwn ? 'it needs none where it has a run of its own: write defineAgent({ name, run })'
    : `write { name: 'Helper', run: (prompt, call) => theirs.generate(prompt, { signal: call.signal }) }`
  throw new TypeError(frameworks.describe(Object(agent) as object)
    ?? `adapt takes an agent of another framework; ${show(agent)} is none that is known; ${remedy}`)
}
