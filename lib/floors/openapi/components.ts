/** What operations of several parts refer to: the response of a problem, and the tag of the server itself. */
import { body, described, listOf, objectOf } from './openapi.ts'
import { PROBLEM_JSON } from '../../kernel/wire/problem.ts'
import type { Components } from '../../kernel/http/message/exchange.ts'

export const sharedComponents: Components = {
  schemas: {
    Problem: described(
      objectOf('type! title! status!:integer detail! error! request_id! errors', {
        errors: listOf(objectOf('path! message!')),
      }),
      'RFC 9457. `detail` and `error` are the same sentence; further members say more.',
    ),
  },
  responses: { Problem: body('What went wrong', 'Problem', PROBLEM_JSON) },
  tags: { Service: { description: 'The server itself.', rank: 6 } },
}
