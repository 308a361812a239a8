/** What runs the agents of each framework, and reads what they give: loaded when the first of it comes. */
import { Later } from '../../kernel/util/later.ts'
import type { Adapter, Reader } from '../../kernel/define/adapters.ts'

type Framework =
  | 'a2aSdk' | 'adk' | 'agUi' | 'aiSdk' | 'genkit' | 'inngest' | 'langchain' | 'llamaIndex' | 'mastra'
  | 'openaiAgents' | 'strands'

export const loaders: Readonly<Record<Framework, Later<Adapter & Reader>>> = {
  a2aSdk: new Later(async () => (await import('../a2a-sdk.ts')).a2aSdk),
  adk: new Later(async () => (await import('../adk.ts')).adk),
  agUi: new Later(async () => (await import('../ag-ui.ts')).agUi),
  aiSdk: new Later(async () => (await import('../ai-sdk.ts')).aiSdk),
  genkit: new Later(async () => (await import('../genkit.ts')).genkit),
  inngest: new Later(async () => (await import('../inngest.ts')).inngest),
  langchain: new Later(async () => (await import('../langchain.ts')).langchain),
  llamaIndex: new Later(async () => (await import('../llamaindex.ts')).llamaIndex),
  mastra: new Later(async () => (await import('../mastra.ts')).mastra),
  openaiAgents: new Later(async () => (await import('../openai-agents.ts')).openaiAgents),
  strands: new Later(async () => (await import('../strands.ts')).strands),
}
