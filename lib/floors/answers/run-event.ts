/** What a run says before it ends: the same for every protocol, which shows what it has a place for. */
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { AnswerInput, AnswerState } from '../../kernel/define/answer.ts'
import type { ArtifactInput } from '../../kernel/define/artifact.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { CallEvent } from '../../kernel/define/event.ts'
import type { Severity } from '../../kernel/define/log.ts'

/**
 * A piece of an answer; one that comes whole has none. `state` is that of the piece, mostly `completed`, and
 * `reply` what the answer is to be, where the agent has said so.
 */
export interface AnswerPiece {
  readonly type: 'piece'
  readonly content: Content
  readonly state: AnswerState
  readonly reply?: AnswerInput['reply'] | undefined
  /** @deprecated That of `content`, for parts that others write. */
  readonly text?: string
  /** Where each agent of a group answers for itself: the agent, or the group that answers in their place. */
  readonly agent?: Agent | Group
}

/** What an answer says as it comes. */
export type AnswerEvent =
  | AnswerPiece
  /** An agent of a group begins, where each answers for itself. */
  | { readonly type: 'step'; readonly agent: Agent }

export type RunEvent =
  | AnswerEvent
  /** `agent`: the name of the member of a group that it comes from. */
  | CallEvent & { readonly agent?: string | undefined }
  | { readonly type: 'artifact'; readonly artifact: ArtifactInput }
  /** What the client is asked: the run ends, and its next request brings the answers. */
  | { readonly type: 'questions'; readonly questions: readonly object[] }
  /** Of a tool. */
  | { readonly type: 'progress'; readonly done: number; readonly total?: number | undefined
    readonly text?: string | undefined }
  | { readonly type: 'log'; readonly level: Severity; readonly data: unknown
    readonly logger: string | undefined }

/** Takes an answer as it comes. A promise makes the agent wait until its reader has caught up. */
export type Emit = (event: AnswerEvent) => void | Promise<void>
