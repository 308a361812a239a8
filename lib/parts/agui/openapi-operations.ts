/** What the OpenAPI description lists of AG-UI. */
import { described, listOf, objectOf, requestBody, TEXT } from '../../floors/openapi/openapi.ts'
import { eventsOperation } from '../../floors/reply/openapi-runs.ts'
import type { DescribedOperations } from '../../floors/openapi/describer.ts'

const objects = listOf({ type: 'object' })

const schemas = {
  RunAgentInput: objectOf('threadId! runId! parentRunId messages! tools state context:any forwardedProps:any '
    + 'resume protocolVersion', {
    threadId: { ...TEXT, minLength: 1, description: 'The conversation.' },
    messages: described(listOf(objectOf('id! role! content toolCalls:object[] toolCallId', {
      role: described(TEXT, '`user`, `assistant`, `system`, `developer` or `tool`; others are passed over.'),
      content: { oneOf: [TEXT, objects] },
    })), 'The whole thread: its last user message is answered. Without one the agent begins.'),
    tools: described(objects, 'What the client runs itself, each with `name` and `parameters`.'),
    state: { description: 'Handed to the agent as it is, as are `context` and `forwardedProps`.' },
    resume: described(objects, 'Answers to the interrupts of the run before.'),
  }),
}

const example = {
  threadId: 'thread-1', runId: 'run-1', messages: [{ id: '1', role: 'user', content: 'Hello' }],
}

export const aguiOperations: DescribedOperations<'run'> = {
  components: { schemas },
  operations: {
    run: eventsOperation(
      'AG-UI', 'Run', 'The events of the run', requestBody('RunAgentInput', example, true),
    ),
  },
}
