/** Takes a store that processes share, with what the floors do then. */
import { conversationForm } from '../conversations/conversation.ts'
import { StoredConversations } from '../conversations/stored-conversations.ts'
import { SharedProcesses } from '../shared/shared.ts'
import { sharedTasks } from '../tasks/shared-tasks.ts'
import { taskForm } from '../tasks/tasks-floor.ts'
import type { SharedForm } from '../shared/shared.ts'
import type { Sharing, SharingSetup } from '../../kernel/store/sharing.ts'

function row<T>({ name }: SharedForm<T>, form: T): readonly [string, T] {
  return [name, form]
}

const forms: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  row(conversationForm, StoredConversations), row(taskForm, sharedTasks),
])

/** Takes a store that processes share. */
export function shareStore(setup: SharingSetup): Sharing {
  return new SharedProcesses(setup, forms)
}
