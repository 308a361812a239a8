/**
 * A2A 0.3, which serves 0.2 too: the table of its methods, and how each of its requests, results, errors,
 * webhook bodies and cards is spelled.
 * Spec: A2A 0.3 §7, §8; A2A 0.2.6.
 */
import { rpcError } from '../../wire/jsonrpc.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { decodeRpcFault, encodeRpcFault } from './rpc-errors.ts'
import { decodeV03Card, encodeV03Card } from './v03-card.ts'
import {
  decodeV03Event, decodeV03List, decodeV03SendResult, decodeV03Task, encodeV03Event, encodeV03Task,
  formatV03Result,
} from './v03-messages.ts'
import { v03PushOperations } from './v03-push.ts'
import {
  decodeV03CardRequest, decodeV03ListRequest, decodeV03Send, decodeV03TaskRequest, encodeV03CardRequest,
  encodeV03ListRequest, encodeV03Send, encodeV03TaskRequest,
} from './v03-requests.ts'
import type { Dialect, OperationCodecs } from '../model/dialect.ts'
import type { TaskPage, TaskView } from '../model/model.ts'

const operations: OperationCodecs = {
  'send': {
    method: 'message/send',
    decodeRequest: decodeV03Send,
    encodeRequest: encodeV03Send,
    encodeResult: encodeV03Event,
    formatResult: formatV03Result,
    decodeResult: decodeV03SendResult,
  },
  'stream': {
    method: 'message/stream',
    decodeRequest: decodeV03Send,
    encodeRequest: encodeV03Send,
    encodeResult: encodeV03Event,
    formatResult: formatV03Result,
    decodeResult: decodeV03Event,
  },
  'get': {
    method: 'tasks/get',
    decodeRequest: decodeV03TaskRequest,
    encodeRequest: encodeV03TaskRequest,
    encodeResult: encodeV03Task,
    decodeResult: decodeTaskResult,
  },
  'list': {
    method: 'tasks/list',
    decodeRequest: decodeV03ListRequest,
    encodeRequest: encodeV03ListRequest,
    encodeResult: ({ tasks }) => tasks.map(encodeV03Task),
    decodeResult: decodeTaskPage,
  },
  'cancel': {
    method: 'tasks/cancel',
    decodeRequest: decodeV03TaskRequest,
    encodeRequest: encodeV03TaskRequest,
    encodeResult: encodeV03Task,
    decodeResult: decodeTaskResult,
  },
  'subscribe': {
    method: 'tasks/resubscribe',
    decodeRequest: decodeV03TaskRequest,
    encodeRequest: encodeV03TaskRequest,
    encodeResult: encodeV03Event,
    decodeResult: decodeV03Event,
  },
  ...v03PushOperations,
  'extended-card': {
    method: 'agent/getAuthenticatedExtendedCard',
    decodeRequest: decodeV03CardRequest,
    encodeRequest: encodeV03CardRequest,
    encodeResult: encodeV03Card,
    decodeResult: decodeV03Card,
  },
}

/** The row of the table. It stands behind plain, and takes what plain does not. */
export const v03: Dialect = {
  name: '0.3',
  version: '0.3',
  operations,
  hasTasks: true,
  streamsErrors: true,
  undeclaredCard: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  speaks: () => true,
  encodeFault: encodeRpcFault,
  encodeError: rpcError,
  decodeFault: decodeRpcFault,
  encodePush: (_event, task) => encodeV03Task(task),
  pushType: JSON_TYPE,
  pushesTasks: true,
  encodeCard: encodeV03Card,
  decodeCard: decodeV03Card,
}

function decodeTaskResult(value: unknown): TaskView {
  return decodeV03Task(value, 'result')
}

function decodeTaskPage(value: unknown): TaskPage {
  const tasks = decodeV03List(value, decodeV03Task)
  return { tasks, nextPageToken: '', pageSize: tasks.length, totalSize: tasks.length }
}
