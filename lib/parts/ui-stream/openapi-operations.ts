/** What the OpenAPI description lists for the chat of the AI SDK. */
import {
  described, failures, listOf, objectOf, operation, requestBody, TEXT,
} from '../../floors/openapi/openapi.ts'
import { eventsOperation } from '../../floors/reply/openapi-runs.ts'
import { EVENT_STREAM } from '../../kernel/wire/sse.ts'
import type { DescribedOperations } from '../../floors/openapi/describer.ts'

const objects = listOf({ type: 'object' })

const schemas = {
  UIChat: objectOf('messages! id tools', {
    id: described(TEXT, 'The chat, which is the conversation.'),
    messages: described({
      ...listOf(objectOf('role! parts!:object[]', { role: { enum: ['user', 'assistant', 'system'] } })),
      minItems: 1,
    }, 'The whole chat: its last user message is answered.'),
    tools: described({ anyOf: [objects, { type: 'object' }] },
      'What the client runs itself, each with `name` and `parameters`, or all of them by their names.'),
  }),
}

const example = {
  id: 'chat-0001', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
}

export const uiOperations: DescribedOperations<'chat' | 'resume' | 'stop'> = {
  components: { schemas },
  operations: {
    chat: eventsOperation(
      'AI SDK', 'Chat', 'The UI message stream, in its version 1', requestBody('UIChat', example, true),
    ),
    resume: operation('AI SDK', 'Go on with a chat', {
      200: {
        description: 'The stream of the run that goes on, from its begin',
        content: { [EVENT_STREAM]: { schema: TEXT } },
      },
      204: { description: 'There is no stream to go on with' }, ...failures('Problem'),
    }),
    stop: operation('AI SDK', 'Stop a chat', {
      204: { description: 'No run of the chat goes on' }, ...failures('Problem'),
    }),
  },
}
