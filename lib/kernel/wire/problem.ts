/** Problem documents. `detail` and `error` are the same, for clients of either habit. Spec: RFC 9457. */
import { sentenceWithin } from './bounded.ts'
import { formatJson } from './json.ts'

export const PROBLEM_JSON = 'application/problem+json'

/** One wrong member of a request. `path` is a JSON Pointer. */
export interface ProblemError { readonly path: string; readonly message: string }

const titles: ReadonlyMap<number, string> = new Map([
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'Not Found'],
  [405, 'Method Not Allowed'],
  [406, 'Not Acceptable'],
  [408, 'Request Timeout'],
  [409, 'Conflict'],
  [413, 'Content Too Large'],
  [415, 'Unsupported Media Type'],
  [417, 'Expectation Failed'],
  [422, 'Unprocessable Content'],
  [429, 'Too Many Requests'],
  [431, 'Request Header Fields Too Large'],
  [500, 'Internal Server Error'],
  [501, 'Not Implemented'],
  [502, 'Bad Gateway'],
  [503, 'Service Unavailable'],
  [504, 'Gateway Timeout'],
  [505, 'HTTP Version Not Supported'],
])

/** The document for a status and a sentence. `more` adds members, for example `errors`. */
export function problem(
  status: number, detail: string, requestId: string, more?: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const title = titles.get(status) ?? 'Error'
  const error = sentenceWithin(detail)
  const members = { type: 'about:blank', title, status, detail: error, error, request_id: requestId }
  // What is added must not replace what every client relies on.
  return more === undefined ? members : { ...members, ...more, ...members }
}

export interface TextReply {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers?: readonly string[]
}

/** Why a request is refused. */
export interface RefusalFacts {
  readonly status: number
  /** A sentence for the caller. */
  readonly detail: string
  readonly requestId: string
  /** Name, value, name, value. */
  readonly headers?: readonly string[]
}

/** A refusal as a whole answer: status, media type, document, and the headers that the status asks for. */
export function problemReply({ status, detail, requestId, headers }: RefusalFacts): TextReply {
  const body = formatJson(problem(status, detail, requestId))
  return { status, type: PROBLEM_JSON, body, ...headers !== undefined && { headers } }
}
