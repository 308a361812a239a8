/**
 * The client for tests over MCP.
 * Spec: MCP 2026-07-28, Transports, Multi Round-Trip Requests; SEP-2663, tasks.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isRecord, textOf } from '../kernel/define/content.ts'
import { JSON_TYPE } from '../kernel/wire/media.ts'
import { EVENT_STREAM } from '../kernel/wire/sse.ts'
import { MAX_ROUNDS, postJson, resultsOf, TestClientError } from './http.ts'
import type { Content } from '../kernel/define/content.ts'
import type { TriportServer } from '../preset/create-server.ts'
import type { JsonRecord, TestClient, TestClientOptions, TestRequest } from './types.ts'

type Mcp = TestClient['mcp']
type Answer = (params: never) => unknown

const REVISION = '2026-07-28'
const META = 'io.modelcontextprotocol/'
/** How often a task is looked at. */
const POLL_EVERY_MS = 5

export function mcpClient(
  server: Pick<TriportServer, 'fetch' | 'catalog'>, options: TestClientOptions,
): Mcp {
  const { onElicit, onSample } = options
  const capabilities = {
    ...onElicit && { elicitation: { form: {}, url: {} } },
    ...onSample && { sampling: { tools: {}, context: {} } },
  }
  // Not for every tool: what may be a task or not says no progress as one.
  const withTasks = { ...capabilities, extensions: { 'io.modelcontextprotocol/tasks': {} } }

  async function once(
    method: string, params: JsonRecord, given: TestRequest, onNotice?: (notice: JsonRecord) => void,
  ): Promise<JsonRecord> {
    const name = params['name'] ?? params['uri'] ?? params['taskId']
    const tool = method === 'tools/call' ? server.catalog.tool(String(name)) : undefined
    const isTask = tool?.task === 'required' || 'taskId' in params
    const _meta = {
      [`${META}protocolVersion`]: REVISION, [`${META}clientInfo`]: { name: 'testClient', version: '1.0.0' },
      [`${META}clientCapabilities`]: isTask ? withTasks : capabilities, [`${META}logLevel`]: 'debug',
      progressToken: 1,
    }
    const headers = {
      'Accept': `${JSON_TYPE}, ${EVENT_STREAM}`, 'MCP-Protocol-Version': REVISION, 'Mcp-Method': method,
      ...typeof name === 'string' && { 'Mcp-Name': headerValue(name) },
      ...paramHeaders(tool?.input.json, params['arguments']),
    }
    const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
    const response = await postJson(server, options, '/mcp', message, headers, given)
    for await (const result of resultsOf(response, onNotice)) return result
    throw new Error(`The answer to ${method} has no result`)
  }

  async function answerTo(question: unknown): Promise<unknown> {
    const { method, params } = question as { readonly method: string; readonly params: JsonRecord }
    if (method === 'elicitation/create') {
      const { message, requestedSchema: schema, url } = params
      return (onElicit as Answer)({ message, schema, url } as never)
    }
    const said = await (onSample as Answer)(params as never)
    if (typeof said !== 'string') return said
    return { role: 'assistant', content: { type: 'text', text: said }, model: 'test', stopReason: 'endTurn' }
  }

  async function answersTo(questions: unknown): Promise<JsonRecord> {
    const answers: Record<string, unknown> = {}
    for (const [key, one] of Object.entries(questions as JsonRecord)) answers[key] = await answerTo(one)
    return answers
  }

  /** Asks again with the answers, as long as the server asks; the result of a task, where it begins one. */
  async function request(
    method: string, params: JsonRecord, given: TestRequest, onNotice?: (notice: JsonRecord) => void,
  ): Promise<JsonRecord> {
    let result = await once(method, params, given, onNotice)
    for (let round = 0; result['resultType'] === 'input_required'; round++) {
      if (round === MAX_ROUNDS) throw new Error(`${method} asks without an end`)
      const { requestState } = result
      const inputResponses = await answersTo(result['inputRequests'])
      result = await once(method, { ...params, inputResponses, requestState }, given, onNotice)
    }
    return result['resultType'] === 'task' ? endOf(String(result['taskId']), given) : result
  }

  async function endOf(taskId: string, given: TestRequest): Promise<JsonRecord> {
    for (;;) {
      const task = await once('tasks/get', { taskId }, given)
      if (task['status'] === 'completed') return task['result'] as JsonRecord
      if (task['status'] === 'input_required') {
        await once('tasks/update', { taskId, inputResponses: await answersTo(task['inputRequests']) }, given)
      } else if (task['status'] !== 'working') {
        throw new TestClientError(200, task)
      }
      await sleep(POLL_EVERY_MS, undefined, given.signal && { signal: given.signal })
    }
  }

  return {
    async listTools(given = {}) {
      const tools: unknown[] = []
      let cursor: unknown
      do {
        const page = await request('tools/list', { cursor }, given)
        tools.push(...page['tools'] as unknown[])
        cursor = page['nextCursor']
      } while (cursor !== undefined)
      return tools as Awaited<ReturnType<Mcp['listTools']>>
    },
    async callTool(name, args = {}, given = {}) {
      const notices: JsonRecord[] = []
      const result = await request('tools/call', { name, arguments: args }, given, (one) => notices.push(one))
      const { content, structuredContent, isError = false } = result
      const of = (kind: string): readonly JsonRecord[] => (
        notices.filter(({ method }) => method === `notifications/${kind}`).map(noticeOf)
      )
      return {
        content, text: textOf(content as Content[]), structuredContent, isError,
        progress: of('progress'), log: of('message'),
      } as never
    },
    async readResource(uri, given = {}) {
      return (await request('resources/read', { uri }, given))['contents'] as never
    },
    async getPrompt(name, args = {}, given = {}) {
      const { description, messages } = await request('prompts/get', { name, arguments: args }, given)
      return { ...description !== undefined && { description }, messages } as never
    },
    request: (method, params = {}, given = {}) => request(method, { ...params }, given),
  }
}

/** What a notification says. */
function noticeOf({ params }: JsonRecord): JsonRecord {
  const { progressToken: _token, _meta, ...rest } = params as JsonRecord
  return rest
}

/** A value as a header can carry it. */
function headerValue(value: string): string {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

/** The arguments that are repeated as headers, where `x-mcp-header` in their schema asks for it. */
function paramHeaders(schema: unknown, args: unknown): Record<string, string> {
  const properties = isRecord(schema) ? schema['properties'] : undefined
  const headers: Record<string, string> = {}
  if (!isRecord(properties) || !isRecord(args)) return headers
  for (const [name, member] of Object.entries(properties)) {
    const value = args[name]
    const header = isRecord(member) ? member['x-mcp-header'] : undefined
    if (typeof header !== 'string') Object.assign(headers, paramHeaders(member, value))
    else if (value !== undefined) headers[`Mcp-Param-${header}`] = headerValue(String(value))
  }
  return headers
}
