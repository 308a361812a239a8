/**
 * Results and events of A2A as JSON text, for every dialect. What dialects have in common is written here:
 * the names of members, and which there are. The rest is a dialect's form.
 * Spec: A2A 1.0 §4.1 and §4.2, A2A 0.3 §6 and §7.
 */
import { formatJson, quote } from '../../../kernel/wire/json.ts'
import { encodeCard } from './cards.ts'
import { partFor } from './parts.ts'
import type { Artifact } from '../../../kernel/define/artifact.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { TaskMessage, TaskState, TaskStatus } from '../../../floors/tasks/task.ts'
import type { Dialect, Formatters } from '../model/dialect.ts'
import type {
  JsonMembers, Message, PushConfig, StreamEvent, TaskPage, TaskView, Whole,
} from '../model/model.ts'
import type { WirePart } from './parts.ts'

type What = StreamEvent['what']
/** What a message says of its own, which in a task the task says. */
type Belonging = Whole<Omit<Message, keyof TaskMessage>, 'contextId' | 'taskId'>

/** How one dialect writes what all write. */
export interface WireForm {
  /** How an object begins: some dialects say there of which kind it is. */
  readonly opens: Readonly<Record<What, string>>
  /** An event in its envelope: others say it there. `object` is JSON text. */
  wrap(what: What, object: string): string
  readonly roles: Readonly<Record<TaskMessage['role'], string>>
  readonly states: Readonly<Record<TaskState, string>>
  /** Whether a text or a list is written that is empty, which says what a missing one does. */
  readonly writesEmpty: boolean
  /** A flag of an event, its comma before it; '' where it is not written. */
  flag(name: 'append' | 'lastChunk' | 'final', isSet: boolean): string
  /** How a part begins that is nothing but a text, up to the text. */
  readonly text: string
  /** Any other part. */
  writePart(part: WirePart): JsonMembers
  /** A page of tasks, which are JSON text. */
  page(tasks: string, page: TaskPage): string
  /** Where the events of a task are posted to. */
  writePush(config: PushConfig): JsonMembers
  /** A page of such configurations. */
  pushPage(configs: readonly JsonMembers[], nextPageToken: string): object
  readonly version: Dialect['version']
}

/** Writes results and events of one dialect. */
export function formattersOf(
  { opens, wrap, roles, states, writesEmpty, flag, ...form }: WireForm,
): Formatters {
  const text = (name: string, value: string | undefined): string => (
    value === undefined || (value === '' && !writesEmpty) ? '' : `,"${name}":${quote(value)}`
  )
  const list = (name: string, values: readonly string[] | undefined): string => (
    values === undefined || (values.length === 0 && !writesEmpty) ? '' : `,"${name}":${formatJson(values)}`
  )
  const members = (name: string, value: JsonMembers | undefined): string => (
    value === undefined ? '' : `,"${name}":${formatJson(value)}`
  )
  const part = (block: Content): string => (
    block.type === 'text' && block._meta === undefined ? `${form.text}${quote(block.text)}}`
      : formatJson(form.writePart(partFor(block)))
  )
  // There must be one part, and a client reads the first without looking.
  const parts = (blocks: readonly Content[]): string => (
    blocks.length === 0 ? `[${form.text}""}]` : all(blocks, part)
  )
  const idsOf = ({ contextId, taskId }: Belonging): string => (
    text('contextId', contextId) + text('taskId', taskId)
  )
  /** `ids`: of the context and of the task, as members. */
  const message = (
    { id, role, parts: blocks, metadata, extensions, referenceTaskIds }: Whole<
      TaskMessage, 'id' | 'role' | 'parts' | 'metadata' | 'extensions' | 'referenceTaskIds'
    >,
    ids: string,
  ): string => (
    `${opens.message}"messageId":${quote(id)},"role":"${roles[role]}","parts":${parts(blocks)}${ids}`
      + `${members('metadata', metadata)}${list('extensions', extensions)}`
      + `${list('referenceTaskIds', referenceTaskIds)}}`
  )
  /** Its metadata is that of what it is the status of. */
  const status = (
    { state, at, message: said }: Whole<TaskStatus, 'state' | 'at' | 'message' | 'metadata'>, ids: string,
  ): string => (
    `{"state":"${states[state]}"${said === undefined ? '' : `,"message":${message(said, ids)}`}`
      + `${text('timestamp', at)}}`
  )
  const artifact = (
    { id, name, description, parts: blocks, metadata, extensions }: Whole<
      Artifact, 'id' | 'name' | 'description' | 'parts' | 'metadata' | 'extensions'
    >,
  ): string => (
    `{"artifactId":${quote(id)}${text('name', name)}${text('description', description)},`
      + `"parts":${parts(blocks)}${members('metadata', metadata)}${list('extensions', extensions)}}`
  )
  /** Each of its messages has its id. */
  const task = (
    { id, contextId, status: now, artifacts, history, metadata }: Whole<
      TaskView, 'id' | 'contextId' | 'status' | 'artifacts' | 'history' | 'metadata'
    >,
  ): string => {
    const taskId = quote(id)
    const context = text('contextId', contextId)
    const ids = `${context},"taskId":${taskId}`
    const past = history === undefined ? '' : `,"history":${all(history, (one) => message(one, ids))}`
    const made = artifacts === undefined ? '' : `,"artifacts":${all(artifacts, artifact)}`
    return `${opens.task}"id":${taskId}${context},"status":${status(now, ids)}${made}${past}`
      + `${members('metadata', metadata)}}`
  }
  /** Of a stream, or of a webhook; a task or a message is what came of a message, too. */
  const event = (one: StreamEvent): string => {
    switch (one.what) {
      case 'task': return wrap('task', task(one.task))
      case 'message': return wrap('message', message(one.message, idsOf(one.message)))
      case 'status': {
        const taskId = `"taskId":${quote(one.taskId)}`
        const now = status(one.status, `${text('contextId', one.contextId)},${taskId}`)
        return wrap('status', `${opens.status}${taskId},"contextId":${quote(one.contextId)},"status":${now}`
          + `${flag('final', one.isLast)}${members('metadata', one.status.metadata)}}`)
      }
      case 'artifact': return wrap('artifact', `${opens.artifact}"taskId":${quote(one.taskId)},`
        + `"contextId":${quote(one.contextId)},"artifact":${artifact(one.artifact)}`
        + `${flag('append', one.append)}${flag('lastChunk', one.last)}}`)
    }
  }
  const push = (config: PushConfig): string => formatJson(form.writePush(config))
  return {
    'send': event, 'stream': event, 'get': task, 'cancel': task, 'subscribe': event,
    'list': (page) => form.page(all(page.tasks, task), page),
    'push-create': push, 'push-get': push,
    'push-list': ({ configs, nextPageToken }) => (
      formatJson(form.pushPage(configs.map(form.writePush), nextPageToken))
    ),
    'push-delete': () => 'null',
    'extended-card': (card) => formatJson(encodeCard(card, form.version)),
  }
}

function all<T>(items: readonly T[], write: (item: T) => string): string {
  return items.length === 1 ? `[${write(items[0]!)}]` : `[${items.map((item) => write(item)).join()}]`
}
