/**
 * Tasks, what comes of a message, and what a stream tells, as A2A 1.0 spells them. Both ways.
 *
 * A stream of 1.0 has no mark on its last event: a state that the agent stops at is the last.
 * Spec: A2A 1.0 §3.2.3, §4.1.1 to §4.1.3, §4.2.
 */
import { quote } from '../../wire/json.ts'
import { formatList, isOfTexts } from './texts.ts'
import { encodeV1Artifact, encodeV1Message, formatV1Artifact, formatV1Message } from './v1-messages.ts'
import type { TaskState, TaskStatus } from '../../tasks/task.ts'
import type { JsonMembers, SendResult, StreamEvent, TaskPage, TaskView } from '../model/model.ts'

/** The names of states in the order of their numbers, from 1. */
const stateNames: readonly (readonly [name: string, state: TaskState])[] = [
  ['TASK_STATE_SUBMITTED', 'submitted'],
  ['TASK_STATE_WORKING', 'working'],
  ['TASK_STATE_COMPLETED', 'completed'],
  ['TASK_STATE_FAILED', 'failed'],
  ['TASK_STATE_CANCELED', 'canceled'],
  ['TASK_STATE_INPUT_REQUIRED', 'input-required'],
  ['TASK_STATE_REJECTED', 'rejected'],
  ['TASK_STATE_AUTH_REQUIRED', 'auth-required'],
]
const byState: ReadonlyMap<TaskState, string> = new Map(stateNames.map(([name, state]) => [state, name]))

/** Every state by its name, and by its number. */
export const v1States: ReadonlyMap<unknown, TaskState> = new Map<unknown, TaskState>([
  ...stateNames, ...stateNames.map(([, state], index): [number, TaskState] => [index + 1, state]),
])

/** The name of a state. */
export function encodeV1State(state: TaskState): string {
  return byState.get(state)!
}

/** A task; each of its messages says that it is of it. */
export function encodeV1Task({ id, contextId, status, artifacts, history, metadata }: TaskView): JsonMembers {
  return {
    id,
    contextId: contextId || undefined,
    status: encodeStatus(status, contextId, id),
    artifacts: artifacts?.map(encodeV1Artifact),
    history: history?.map((message) => encodeV1Message(message, contextId, id)),
    metadata,
  }
}

function encodeStatus({ state, at, message }: TaskStatus, contextId: string, taskId: string): JsonMembers {
  return {
    state: encodeV1State(state),
    message: message === undefined ? undefined : encodeV1Message(message, contextId, taskId),
    // Another server may not have told since when.
    timestamp: at === '' ? undefined : at,
  }
}

/** What came of a message. */
export function encodeV1SendResult(result: SendResult): JsonMembers {
  if (result.what === 'task') return { task: encodeV1Task(result.task) }
  const { message } = result
  return { message: encodeV1Message(message, message.contextId, message.taskId) }
}

/** The same as JSON text, of what is made of texts; undefined for what is more. */
export function formatV1Result(result: StreamEvent): string | undefined {
  if (result.what === 'message' || !isOfTexts(result)) return undefined
  if (result.what !== 'task') {
    const task = quote(result.taskId)
    const context = quote(result.contextId)
    const ids = `"taskId":${task},"contextId":${context}`
    if (result.what === 'status') {
      return `{"statusUpdate":{${ids},"status":${formatStatus(result.status, context, task)}}}`
    }
    const { artifact, append, last } = result
    return `{"artifactUpdate":{${ids},"artifact":${formatV1Artifact(artifact)}`
      + `${append ? ',"append":true' : ''}${last ? ',"lastChunk":true}}' : '}}'}`
  }
  const { id, contextId, status, artifacts, history } = result.task
  const task = quote(id)
  const context = quote(contextId)
  const made = artifacts === undefined ? '' : `,"artifacts":${formatList(artifacts, formatV1Artifact)}`
  const past = history === undefined ? ''
    : `,"history":${formatList(history, (one) => formatV1Message(one, context, task))}`
  return `{"task":{"id":${task},"contextId":${context},`
    + `"status":${formatStatus(status, context, task)}${made}${past}}}`
}

function formatStatus({ state, at, message }: TaskStatus, contextId: string, taskId: string): string {
  const said = message === undefined ? '' : `"message":${formatV1Message(message, contextId, taskId)},`
  return `{"state":"${encodeV1State(state)}",${said}"timestamp":"${at}"}`
}

/** One event of a stream, or of a webhook. */
export function encodeV1Event(event: StreamEvent): JsonMembers {
  switch (event.what) {
    case 'status': {
      const { taskId, contextId, status } = event
      return { statusUpdate: { taskId, contextId, status: encodeStatus(status, contextId, taskId) } }
    }
    case 'artifact': {
      const { taskId, contextId, artifact, append, last } = event
      return {
        artifactUpdate: {
          taskId, contextId, artifact: encodeV1Artifact(artifact),
          append: append || undefined, lastChunk: last || undefined,
        },
      }
    }
    default: return encodeV1SendResult(event)
  }
}

/** One page of tasks: its four members are always there. */
export function encodeV1TaskPage({ tasks, nextPageToken, pageSize, totalSize }: TaskPage): JsonMembers {
  return { tasks: tasks.map(encodeV1Task), nextPageToken, pageSize, totalSize }
}
