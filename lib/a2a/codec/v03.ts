/**
 * A2A 0.3, which serves 0.2 too: the table of its methods, and how each of its requests, results, errors,
 * webhook bodies and cards is spelled.
 * Spec: A2A 0.3 §7, §8; A2A 0.2.6.
 */
import { rpcError } from '../../wire/jsonrpc.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { encodeRpcFault } from './rpc-errors.ts'
import { encodeV03Card } from './v03-card.ts'
import { encodeV03Event, encodeV03Task, formatV03Result } from './v03-messages.ts'
import { v03PushOperations } from './v03-push.ts'
import {
  decodeV03CardRequest, decodeV03ListRequest, decodeV03Send, decodeV03TaskRequest,
} from './v03-requests.ts'
import type { Dialect, OperationCodecs } from '../model/dialect.ts'

const operations: OperationCodecs = {
  'send': {
    method: 'message/send',
    decodeRequest: decodeV03Send,
    encodeResult: encodeV03Event,
    formatResult: formatV03Result,
  },
  'stream': {
    method: 'message/stream',
    decodeRequest: decodeV03Send,
    encodeResult: encodeV03Event,
    formatResult: formatV03Result,
  },
  'get': {
    method: 'tasks/get',
    decodeRequest: decodeV03TaskRequest,
    encodeResult: encodeV03Task,
  },
  'list': {
    method: 'tasks/list',
    decodeRequest: decodeV03ListRequest,
    encodeResult: ({ tasks }) => tasks.map(encodeV03Task),
  },
  'cancel': {
    method: 'tasks/cancel',
    decodeRequest: decodeV03TaskRequest,
    encodeResult: encodeV03Task,
  },
  'subscribe': {
    method: 'tasks/resubscribe',
    decodeRequest: decodeV03TaskRequest,
    encodeResult: encodeV03Event,
  },
  ...v03PushOperations,
  'extended-card': {
    method: 'agent/getAuthenticatedExtendedCard',
    decodeRequest: decodeV03CardRequest,
    encodeResult: encodeV03Card,
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
  encodePush: (_event, task) => encodeV03Task(task),
  pushType: JSON_TYPE,
  pushesTasks: true,
  encodeCard: encodeV03Card,
}
