/**
 * What the HTTP door says: replies as JSON, faults and refusals as problem documents.
 */
import { sentence } from '../core/fault.ts'
import { problem, PROBLEM_JSON } from '../wire/problem.ts'
import type { Fault, FaultKind } from '../core/fault.ts'
import type { Service } from '../core/service.ts'
import type { Refusal, Reply } from '../http/exchange.ts'

/** The media type of everything else. */
export const JSON_TYPE = 'application/json'

const statuses: Readonly<Record<FaultKind, number>> = {
  'invalid': 422, 'unauthenticated': 401, 'forbidden': 403, 'not-found': 404, 'conflict': 409, 'unsupported': 501,
  'too-large': 413, 'busy': 503, 'timeout': 504, 'cancelled': 503, 'failed': 500, 'internal': 500,
}

/** A value as a JSON reply. */
export function json(value: unknown, status = 200, headers?: readonly string[]): Reply {
  return { status, type: JSON_TYPE, body: JSON.stringify(value), ...headers !== undefined && { headers } }
}

/** A refusal, as every endpoint of this door makes it. */
export function refuse({ status, detail, requestId, headers }: Refusal): Reply {
  const body = JSON.stringify(problem(status, detail, requestId))
  return { status, type: PROBLEM_JSON, body, ...headers !== undefined && { headers } }
}

/** The problem document of a fault. A group's partial results stand beside it. */
export function problemOf(service: Service, fault: Fault, requestId: string): Readonly<Record<string, unknown>> & { readonly status: number } {
  const more = fault.detail !== null && typeof fault.detail === 'object' ? { ...fault.detail } : undefined
  return problem(statuses[fault.kind], sentence(fault, requestId, service.exposeErrors), requestId, more)
}

/** A problem document as a reply. */
export function problemReply(document: { readonly status: number }): Reply {
  const headers = document.status === 503 ? { headers: ['Retry-After', '1'] } : undefined
  return { status: document.status, type: PROBLEM_JSON, body: JSON.stringify(document), ...headers }
}
