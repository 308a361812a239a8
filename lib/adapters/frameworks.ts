/**
 * All frameworks that are known: their agents, tools, answers and schemas are taken as if they were ours; and
 * the pages of tools.
 */
import { toolUiOf } from '../parts/apps/tool-ui.ts'
import { schemaForm } from './schemas/schema-form.ts'
import { adaptAgent, describeUnknown } from './shared/agents.ts'
import { foreignWords } from './shared/foreign-words.ts'
import { resultShape, streamFlaw } from './shared/results.ts'
import { toolDefinition } from './shared/tool-definition.ts'
import { foreignToolKind } from './shared/tools.ts'
import type { Adapters } from '../kernel/define/adapters.ts'

export const frameworks: Adapters = Object.freeze({
  agent: adaptAgent, toolKind: foreignToolKind, tool: toolDefinition, describe: describeUnknown,
  result: resultShape, streamFlaw, words: foreignWords, schemaForm,
  toolUi: toolUiOf,
})
