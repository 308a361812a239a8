/** What the OpenAPI description lists of `Idempotency-Key`, for each operation that takes one. */
import { IDEMPOTENCY_KEY } from '../../state/idempotency.ts'
import { headerParameter, TEXT } from '../../wire/openapi.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

export const idempotencyParameter: DocumentPart = headerParameter(
  'Idempotency-Key', { ...TEXT, pattern: IDEMPOTENCY_KEY.source },
  'A key of your own for this one request: sent again with it, nothing is run again, and the '
    + 'reply of the first time comes, with `Idempotent-Replayed: true`.',
)

/** The header of a reply. */
export const replayedHeader: DocumentPart = {
  'Idempotent-Replayed': {
    description: 'The reply is that of the first request with this Idempotency-Key.',
    schema: { const: 'true' },
  },
}

export const KEY_IS_RUNNING =
  'The request of this Idempotency-Key is running; try again when Retry-After says'
export const KEY_OF_ANOTHER = 'The Idempotency-Key belongs to another request'
