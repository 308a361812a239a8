/**
 * Everything that can be asked of the A2A door, in the words of no dialect and of no binding: a request and
 * the visit it came on go in, a result or a stream of events comes out. Whatever is wrong is thrown as a
 * `Fault`.
 */
import { isThenable } from '../../util/thenable.ts'
import { requestCancel } from './cancel.ts'
import { signedExtendedCard } from '../card/extended-card.ts'
import { findTask } from './find-task.ts'
import { listTasks } from './list.ts'
import { pushOperations } from '../push/push-operations.ts'
import { sendMessage, streamMessage } from './send.ts'
import { subscribe } from './stream.ts'
import { viewOf } from '../model/task-view.ts'
import type { Operations, A2aRequest } from './request.ts'

/** Those of this server. */
export const operations: Operations = {
  'send': sendMessage,
  'stream': streamMessage,
  'get'(visit, { tenant, id, historyLength }) {
    const task = findTask(visit, tenant, id)
    return isThenable(task) ? task.then((one) => viewOf(one, historyLength))
      : viewOf(task, historyLength)
  },
  'list': listTasks,
  'cancel': requestCancel,
  'subscribe': subscribe,
  ...pushOperations<A2aRequest>(findTask),
  'extended-card': signedExtendedCard,
}
