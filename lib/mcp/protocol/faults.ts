/**
 * The ways to fail, in MCP's numbers: a `Fault` in, the error of a JSON-RPC answer out, and what HTTP says
 * of it where it has not begun to answer.
 * Spec: MCP 2026-07-28, Error Codes; 2025-11-25, Resources, Error Handling.
 */
import { isRecord } from '../../define/content.ts'
import { retryAfter } from '../../define/fault.ts'
import { sentenceWithin } from '../../wire/bounded.ts'
import {
  INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, rpcError,
} from '../../wire/jsonrpc.ts'
import { challenge } from './authorization.ts'
import { capabilityFor } from './questions.ts'
import type { Fault, FaultKind } from '../../define/fault.ts'
import type { Ability } from '../../define/question.ts'
import type { Authorization } from '../../http/access/auth.ts'
import type { RpcError } from '../../wire/jsonrpc.ts'
import type { Revision } from './revisions.ts'

const MISSING_CAPABILITY = -32021

const codes: Readonly<Record<FaultKind, number>> = {
  'invalid': INVALID_PARAMS,
  'unauthenticated': INVALID_REQUEST,
  'forbidden': INVALID_REQUEST,
  'not-found': INVALID_PARAMS,
  'conflict': INVALID_REQUEST,
  'unsupported': METHOD_NOT_FOUND,
  'too-large': INVALID_REQUEST,
  'busy': INTERNAL_ERROR,
  'timeout': INTERNAL_ERROR,
  'cancelled': INTERNAL_ERROR,
  'failed': INTERNAL_ERROR,
  'upstream': INTERNAL_ERROR,
  'internal': INTERNAL_ERROR,
}

/** HTTP statuses of those faults that are told at HTTP's level too. */
const statuses: ReadonlyMap<FaultKind, number> = new Map([
  ['unauthenticated', 401], ['forbidden', 403], ['busy', 503], ['cancelled', 503],
])

/** A fault as an error of a revision. What an author attached to it stands beside the sentence. */
export function mcpError({ kind, detail }: Fault, said: string, revision: Revision): RpcError {
  // A defect shows nothing of itself.
  const more = isRecord(detail) && kind !== 'internal' ? detail : undefined
  if (isLack(kind, more)) return lackOf(more, said)
  const { resourceNotFound } = revision
  if (kind === 'not-found' && more !== undefined && 'uri' in more && resourceNotFound !== INVALID_PARAMS) {
    const data = { detail: sentenceWithin(said), ...more }
    return { code: resourceNotFound, message: 'Resource not found', data }
  }
  return rpcError(codes[kind], said, more)
}

/** What is lacking: the handler may have said more than its kind. */
interface Lack { readonly ability: Ability; readonly requiredCapabilities?: unknown }

/** The client cannot be asked in the way that the handler needs. */
function isLack(kind: FaultKind, more: object | undefined): more is Lack {
  return kind === 'unsupported' && more !== undefined && 'ability' in more
}

function lackOf(more: Lack, said: string): RpcError {
  const requiredCapabilities = more.requiredCapabilities ?? capabilityFor(more.ability)
  const data = { detail: said, requiredCapabilities }
  return { code: MISSING_CAPABILITY, message: 'Missing required client capability', data }
}

/** The HTTP status of a fault; undefined where that of any answer does. */
export function statusOf({ kind }: Fault, { code }: RpcError, revision: Revision): number | undefined {
  return code === MISSING_CAPABILITY ? revision.missingCapabilityStatus : statuses.get(kind)
}

/** What HTTP adds to it. */
export function faultHeaders(
  fault: Fault, realm: string, auth: Authorization | undefined,
): readonly string[] | undefined {
  const { kind, detail } = fault
  if (kind === 'busy' || kind === 'cancelled') return ['Retry-After', retryAfter(fault)]
  if (kind !== 'forbidden' && kind !== 'unauthenticated') return undefined
  const error = kind === 'forbidden' ? 'insufficient_scope' : 'invalid_token'
  return ['WWW-Authenticate', challenge(realm, auth, error, scopesIn(detail))]
}

/** The scopes that a fault names. An author can attach anything to one, getters that throw among it. */
function scopesIn(detail: unknown): readonly unknown[] | undefined {
  try {
    const scopes = isRecord(detail) ? detail['scopes'] : undefined
    return Array.isArray(scopes) ? [...scopes] : undefined
  } catch {
    return undefined
  }
}
