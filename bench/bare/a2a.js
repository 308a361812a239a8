/**
 * A2A by hand, JSON-RPC: a message and its reply; and tasks, whole and streamed, in 0.3 and in 1.0.
 */
import { randomUUID } from 'node:crypto'
import { run } from '../author.js'
import { resultOf } from './mcp.js'
import { Call, eachPiece, EventStream, requestId, send } from './reply.js'

/** `POST /a2a`. */
export function a2a(response, { id, method, params: { message } }) {
  switch (method) {
    case 'SendMessage': return sendTask(response, id, message, modern)
    case 'SendStreamingMessage': return streamTask(response, id, message, modern)
    case 'message/stream': return streamTask(response, id, message, older)
    default: return message.kind === 'message'
      ? sendTask(response, id, message, older)
      : sendMessage(response, id, message)
  }
}

/** How the two versions spell what they say. */
const modern = {
  working: 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
  part: (text) => ({ text }),
  said: ({ messageId, role, parts }, ids) => ({ messageId, role, parts, ...ids }),
  task: (task) => ({ task }),
  piece: (ids, artifactId, text, isFirst, isLast) => ({
    artifactUpdate: {
      ...ids, artifact: { artifactId, parts: [{ text }] },
      ...!isFirst && { append: true }, ...isLast && { lastChunk: true },
    },
  }),
  ended: (ids, status) => ({ statusUpdate: { ...ids, status } }),
}

const older = {
  working: 'working',
  completed: 'completed',
  part: (text) => ({ kind: 'text', text }),
  said: ({ messageId, role, parts }, ids) => ({ kind: 'message', messageId, role, parts, ...ids }),
  task: (task) => ({ kind: 'task', ...task }),
  piece: (ids, artifactId, text, isFirst, isLast) => ({
    kind: 'artifact-update', ...ids, artifact: { artifactId, parts: [{ kind: 'text', text }] },
    append: !isFirst, lastChunk: isLast,
  }),
  ended: (ids, status) => ({ kind: 'status-update', ...ids, status, final: true }),
}

function sendMessage(response, id, message) {
  const reply = {
    messageId: randomUUID(), role: 'agent',
    parts: [{ type: 'text', text: run(message.parts[0].text, new Call(response)) }],
    contextId: randomUUID(),
  }
  send(response, requestId(), resultOf(id, { message: reply }))
}

function sendTask(response, id, message, version) {
  const text = run(message.parts[0].text, new Call(response))
  const [taskId, contextId] = [randomUUID(), randomUUID()]
  const task = {
    id: taskId, contextId, status: statusOf(version.completed),
    artifacts: [{ artifactId: randomUUID(), parts: [version.part(text)] }],
    history: [version.said(message, { contextId, taskId })],
  }
  send(response, requestId(), resultOf(id, version.task(task)))
}

async function streamTask(response, id, message, version) {
  const events = new EventStream(response, requestId())
  const [taskId, contextId, artifactId] = [randomUUID(), randomUUID(), randomUUID()]
  const ids = { taskId, contextId }
  const event = (result) => `data: ${resultOf(id, result)}\n\n`
  events.write(event(version.task({
    id: taskId, contextId, status: statusOf(version.working), artifacts: [],
    history: [version.said(message, { contextId, taskId })],
  })))
  let isFirst = true
  await eachPiece(response, run(message.parts[0].text, new Call(response)), (piece) => {
    events.write(event(version.piece(ids, artifactId, piece, isFirst, false)))
    isFirst = false
  })
  events.write(event(version.piece(ids, artifactId, '', isFirst, true)))
  events.end(event(version.ended(ids, statusOf(version.completed))))
}

function statusOf(state) {
  return { state, timestamp: new Date().toISOString() }
}
