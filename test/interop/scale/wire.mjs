/**
 * Plain clients of A2A and of MCP: requests as they are on the wire, for what official clients hide. No test
 * itself.
 */

let ids = 0

/** What an answer is not: a request that was refused, or cut. */
export class NoAnswer extends Error {
  constructor(status, said) {
    super(`${status}: ${said}`)
    this.status = status
  }
}

/** Sends one request of JSON-RPC; its answer, from a document or from the last event of a stream. */
export async function rpc(url, path, method, params, headers = {}) {
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: {
      'Accept': 'application/json, text/event-stream', 'Content-Type': 'application/json', ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++ids, method, params }),
    signal: AbortSignal.timeout(15_000),
  }).catch((error) => { throw new NoAnswer(0, error.cause?.message ?? error.message) })
  const text = await response.text().catch((error) => { throw new NoAnswer(0, error.message) })
  if (!response.ok) throw new NoAnswer(response.status, text)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const last = isStream ? text.split('\n').findLast((line) => /^data: ?\S/.test(line))?.slice(5) : text
  // A stream that ended before the answer came is cut, whatever the socket says.
  if (last === undefined) throw new NoAnswer(0, 'no answer on the stream')
  try {
    return { answer: JSON.parse(last), headers: response.headers }
  } catch (error) {
    const headers = JSON.stringify([...response.headers])
    throw new Error(`${method}: ${error.message}: ${response.status} ${headers} ${text.slice(0, 500)}`)
  }
}

/** The result; an error is thrown as it is. */
export async function ask(...request) {
  const { answer: { result, error } } = await rpc(...request)
  if (error === undefined) return result
  throw Object.assign(new Error(`${error.code}: ${JSON.stringify(error)}`), { rpc: error })
}

const A2A = { 'A2A-Version': '1.0' }

/** A2A 1.0. */
export function a2a(url) {
  const send = (method, params) => ask(url, '/a2a', method, params, A2A)
  return {
    async begin(prompt, more = {}) {
      const message = { messageId: `message-${++ids}`, role: 'ROLE_USER', parts: [{ text: prompt }], ...more }
      return (await send('SendMessage', { message, configuration: { returnImmediately: true } })).task.id
    },
    async read(id) {
      const { status: { state, timestamp } } = await send('GetTask', { id })
      return { state: state.replace('TASK_STATE_', '').toLowerCase(), at: timestamp }
    },
    send,
  }
}

/** A session of MCP, of one of the revisions that have sessions. */
export async function session(url, revision = '2025-11-25', capabilities = { elicitation: {} }) {
  const clientInfo = { name: 'wire', version: '1.0.0' }
  const begun = await rpc(url, '/mcp', 'initialize', { protocolVersion: revision, capabilities, clientInfo })
  const headers = { 'Mcp-Session-Id': begun.headers.get('mcp-session-id'), 'MCP-Protocol-Version': revision }
  const send = (method, params) => ask(url, '/mcp', method, params, headers)
  return {
    headers, opened: begun.answer.result, send,
    async begin(name, args) {
      return (await send('tools/call', { name, arguments: args, task: { ttl: 3_600_000 } })).task.taskId
    },
    async read(taskId) {
      const { status, lastUpdatedAt } = await send('tasks/get', { taskId })
      return { state: status, at: lastUpdatedAt }
    },
  }
}

const META = 'io.modelcontextprotocol/'

/** MCP 2026-07-28, with the tasks extension. */
export function modern(url) {
  const capabilities = { elicitation: {}, extensions: { [`${META}tasks`]: {} } }
  const _meta = {
    [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: capabilities,
    [`${META}clientInfo`]: { name: 'wire', version: '1.0.0' },
  }
  const headersOf = (method, name) => (
    { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...name && { 'Mcp-Name': name } }
  )
  const send = (method, params, name) => (
    ask(url, '/mcp', method, { ...params, _meta }, headersOf(method, name))
  )
  return {
    send,
    /** The response whose stream tells of what is asked for. */
    listen(notifications) {
      const method = 'subscriptions/listen'
      return fetch(new URL('/mcp', url), {
        method: 'POST',
        headers: { ...headersOf(method), 'Accept': 'text/event-stream', 'Content-Type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: ++ids, method, params: { notifications, _meta } }),
      })
    },
    async begin(name, args) {
      const { resultType, taskId } = await send('tools/call', { name, arguments: args }, name)
      if (resultType !== 'task') throw new Error(`${name} is no task`)
      return taskId
    },
    async read(taskId) {
      const { status, lastUpdatedAt } = await send('tasks/get', { taskId }, taskId)
      return { state: status, at: lastUpdatedAt }
    },
  }
}
