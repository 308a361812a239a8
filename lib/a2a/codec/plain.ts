/**
 * The plain dialect: `message/send` with parts that are told by their members, answered by a message.
 * Params in, a neutral message out; a neutral message in, JSON text out.
 *
 * It has no tasks, no streams and no `kind`. Which requests are plain is `speaks`; what is wrong with
 * one that is, the decoder says.
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { rpcError } from '../../wire/jsonrpc.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { isUnset } from '../model/fields.ts'
import { plainSend } from './plain-messages.ts'
import { encodeRpcFault } from './rpc-errors.ts'
import { encodeV03Security } from './v03-card.ts'
import type { Dialect } from '../model/dialect.ts'
import type { Card, JsonMembers } from '../model/model.ts'

/** The row of the table. */
export const plain: Dialect = {
  name: 'plain',
  version: '0.3',
  operations: { send: plainSend },
  hasTasks: false,
  streamsErrors: false,
  speaks: isPlain,
  encodeFault: encodeRpcFault,
  encodeError: rpcError,
  encodePush,
  pushType: JSON_TYPE,
  pushesTasks: false,
  encodeCard,
}

/** Whether neither the message nor any of its parts has the `kind` that marks A2A 0.2 and 0.3. */
function isPlain(params: unknown): boolean {
  if (!isRecord(params) || !isRecord(params['message'])) return true
  const { kind, parts } = params['message']
  if (!isUnset(kind)) return false
  return !Array.isArray(parts) || !parts.some((part) => isRecord(part) && !isUnset(part['kind']))
}

function encodePush(): never {
  throw new Fault('unsupported', 'The plain dialect has no tasks, and so no events to post')
}

/** The media types and the ways to be let in are what clients of any age may look for. */
function encodeCard(card: Card): JsonMembers {
  const { name, description, interfaces, version, streams, pushes, inputModes, outputModes, skills } = card
  return {
    name,
    description,
    url: interfaces[0]!.url,
    version,
    capabilities: { streaming: streams, pushNotifications: pushes, stateTransitionHistory: false },
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills,
    ...encodeV03Security(card),
  }
}
