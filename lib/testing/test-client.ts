/**
 * A client for tests: its requests go through `server.fetch` as they come over a network, without a socket.
 * What a protocol needs is loaded with its first request.
 */
import { isRecord } from '../kernel/define/content.ts'
import { checkMembers, must, mustBeText, show } from '../kernel/define/validate.ts'
import type { ElicitAnswer } from '../kernel/define/question.ts'
import type { TriportServer } from '../preset/create-server.ts'
import type { TestClient, TestClientOptions } from './types.ts'

const mustBeFunction = must((value) => typeof value === 'function', 'write a function')
const checks = {
  headers: must(isRecord, `write an object, as in { 'x-api-key': 'key' }`),
  url: mustBeText, onElicit: mustBeFunction, onSample: mustBeFunction,
}

const actions: readonly unknown[] = ['accept', 'decline', 'cancel']

/**
 * Makes a client of a server, for tests: queries, MCP and A2A without a socket. Throws `TypeError` for what
 * is no server, and for a wrong option.
 */
export function testClient(
  server: Pick<TriportServer, 'fetch' | 'catalog'>, options: TestClientOptions = {},
): TestClient {
  if (!isRecord(server) || typeof server['fetch'] !== 'function' || !isRecord(server['catalog'])) {
    throw new TypeError('testClient needs a server; write testClient(createServer({ agents: [agent] }))')
  }
  checkMembers('testClient', options, checks)
  const { onElicit } = options
  const asked = { ...options, ...onElicit && { onElicit: checked(onElicit) } }
  const http = async () => (await import('./http.ts')).httpClient(server, options)
  const mcp = async () => (await import('./mcp.ts')).mcpClient(server, asked)
  const a2a = async () => (await import('./a2a.ts')).a2aClient(server, asked)
  return {
    query: async (...given) => (await http()).query(...given),
    stream: async (...given) => (await http()).stream(...given),
    mcp: {
      listTools: async (...given) => (await mcp()).listTools(...given),
      callTool: async (...given) => (await mcp()).callTool(...given),
      readResource: async (...given) => (await mcp()).readResource(...given),
      getPrompt: async (...given) => (await mcp()).getPrompt(...given),
      request: async (...given) => (await mcp()).request(...given),
    },
    a2a: {
      send: async (...given) => (await a2a()).send(...given),
      stream: async (...given) => (await a2a()).stream(...given),
      task: async (...given) => (await a2a()).task(...given),
    },
  }
}

type OnElicit = NonNullable<TestClientOptions['onElicit']>

/** The same function, which throws `TypeError` where it returns what is no answer. */
function checked(onElicit: OnElicit): OnElicit {
  return async (question) => {
    const answer: unknown = await onElicit(question)
    if (isRecord(answer) && actions.includes(answer['action'])) return answer as ElicitAnswer
    throw new TypeError(`onElicit returned ${show(answer)}; return { action: 'accept', content: { … } } or `
      + `{ action: 'decline' }`)
  }
}
