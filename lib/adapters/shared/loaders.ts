/** What runs the agents of each framework, and reads what they give: loaded when the first of it comes. */
import { Later } from '../../kernel/util/later.ts'
import type { Reader } from '../../kernel/define/adapters.ts'
import type { Adapter } from './adapter.ts'

type Both = Later<Adapter & Reader>

export const a2aSdk: Both = new Later(async () => (await import('../a2a-sdk.ts')).a2aSdk)
export const adk: Both = new Later(async () => (await import('../adk.ts')).adk)
export const agUi: Both = new Later(async () => (await import('../ag-ui.ts')).agUi)
export const aiSdk: Both = new Later(async () => (await import('../ai-sdk.ts')).aiSdk)
export const genkit: Both = new Later(async () => (await import('../genkit.ts')).genkit)
export const inngest: Both = new Later(async () => (await import('../inngest.ts')).inngest)
export const langchain: Both = new Later(async () => (await import('../langchain.ts')).langchain)
export const llamaIndex: Both = new Later(async () => (await import('../llamaindex.ts')).llamaIndex)
export const mastra: Both = new Later(async () => (await import('../mastra.ts')).mastra)
export const openaiAgents: Both = new Later(async () => (await import('../openai-agents.ts')).openaiAgents)
export const strands: Both = new Later(async () => (await import('../strands.ts')).strands)
export const praisonAi: Later<Adapter> = new Later(async () => (await import('../praisonai.ts')).praisonAi)
export const voltAgent: Later<Adapter> = new Later(async () => (await import('../ai-sdk.ts')).voltAgent)
