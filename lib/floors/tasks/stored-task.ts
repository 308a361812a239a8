/** The form of a task in a store: as much of it as the protocols read without looking first. */
import { isContent, isRecord } from '../../kernel/define/content.ts'
import { isFaultKind } from '../../kernel/define/fault.ts'
import { among, isAnything, isText, manyOf, optional, recordOf } from '../shared/stored-value.ts'
import { isStrings } from '../../kernel/wire/json.ts'
import { taskStates } from './task.ts'
import type { Artifact } from '../../kernel/define/artifact.ts'
import type { Runnable } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { Principal } from '../../kernel/define/principal.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { FormCheck } from '../shared/stored-value.ts'
import type {
  Task, TaskFault, TaskMessage, TaskQuestion, TaskStatus, TaskTurn, TurnRequest,
} from './task.ts'

/** The members of each block that are texts. */
const texts: Readonly<Record<Content['type'], readonly string[]>> = {
  text: ['text'], image: ['data', 'mimeType'], audio: ['data', 'mimeType'], resource: [],
  resource_link: ['uri', 'name'], data: [],
}

function isPart(value: unknown): value is Content {
  if (!isContent(value)) return false
  const { type, _meta } = value
  const isWhole = texts[type].every((name) => isText(Reflect.get(value, name)))
  return isWhole && (_meta === undefined || isRecord(_meta))
    && (type !== 'resource' || (isRecord(value.resource) && isText(value.resource.uri)))
}

const areParts = manyOf(isPart)
const isMembers: FormCheck = optional(isRecord)
const isTexts: FormCheck = optional(isStrings)
const isFlag: FormCheck = optional((value) => typeof value === 'boolean')

function isTime(value: unknown): boolean {
  return isText(value) && !Number.isNaN(Date.parse(value))
}

const isMessage = recordOf<TaskMessage>({
  id: isText, role: among('user', 'agent'), parts: areParts, metadata: isMembers, extensions: isTexts,
  referenceTaskIds: isTexts,
})

const isStatus = recordOf<TaskStatus>({
  state: among(...taskStates), at: isTime, message: optional(isMessage), metadata: isMembers,
})

const isArtifact = recordOf<Artifact>({
  id: isText, parts: areParts, name: optional(isText), description: optional(isText), metadata: isMembers,
  extensions: isTexts,
})

/** The members that each kind of question has in any case. */
const questions: Readonly<Record<Question['what'], FormCheck>> = {
  elicit: recordOf({ message: isText, schema: isRecord }),
  'elicit-url': recordOf({ message: isText, url: isText }),
  sample: recordOf({ messages: manyOf(isRecord) }),
  roots: isAnything,
}

function isQuestionAsked(value: unknown): boolean {
  const what = isRecord(value) ? value['what'] : undefined
  return Object.entries(questions).some(([kind, check]) => kind === what && check(value))
}

const isQuestion = recordOf<TaskQuestion>({ key: isText, question: isQuestionAsked })

function isHeader(value: unknown): value is readonly [string, string] {
  return isStrings(value) && value.length === 2
}

const isPrincipal = recordOf<Principal>({
  id: isText, scopes: isStrings, expiresAt: optional(Number.isFinite), claims: isAnything,
})

const isRequest = recordOf<TurnRequest>({
  requestId: isText, principal: isPrincipal, headers: manyOf(isHeader), said: isAnything,
})

const isTurn = recordOf<TaskTurn>({
  messageId: optional(isText), metadata: isMembers, request: optional(isRequest), isRerun: isFlag,
  run: optional(Number.isSafeInteger), earlier: isTexts, artifactId: optional(isText), answers: isRecord,
  asked: isMembers, results: isRecord,
})

const isTask = recordOf<Task>({
  id: isText, owner: isText, node: optional(isText), protocol: among('http', 'mcp', 'a2a', 'acp'),
  runnable: recordOf<Runnable>({ kind: isText, name: isText }), isReserved: isFlag,
  tenant: optional(isText), contextId: isText, sessionId: optional(isText), createdAt: isTime,
  ttlMs: optional(Number.isFinite), status: isStatus, artifacts: manyOf(isArtifact),
  history: manyOf(isMessage), questions: manyOf(isQuestion), turn: optional(isTurn), result: isAnything,
  fault: optional(recordOf<TaskFault>({ kind: isFaultKind, message: isText, detail: isAnything })),
})

/** A task; null where a tombstone stands in its place; undefined for anything else. */
export function decodeTask(value: unknown): Task | null | undefined {
  if (value === null) return null
  if (!isTask(value)) return undefined
  // What a tool has answered is encoded by its members.
  const { protocol, result } = value
  const hasContent = protocol === 'mcp' && isRecord(result) && result['content'] !== undefined
  return hasContent && !areParts(result['content']) ? undefined : value
}
