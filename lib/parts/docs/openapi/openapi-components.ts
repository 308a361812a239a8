/**
 * The schemas and responses that the operations of plain HTTP refer to.
 * Spec: OpenAPI 3.1.1 §4.8.7.
 */
import { CONVERSATION_ID } from '../../../floors/conversations/conversation-page.ts'
import { MAX_STOP_LENGTH, MAX_STOPS } from '../../../floors/reply/chat-stop.ts'
import { body, described, listOf, objectOf, optionsOf, TEXT } from '../../../floors/openapi/openapi.ts'
import { PROBLEM_JSON } from '../../../kernel/wire/problem.ts'
import type { Components } from '../../../kernel/http/message/exchange.ts'
import type { DocumentPart } from '../../../floors/openapi/openapi.ts'

const anything: DocumentPart = { type: 'object' }
/** What tools, resources and prompts have in common. */
const shown = 'title description icons:object[] _meta:object'
const store: DocumentPart = {
  enum: ['reached', 'away'], description: 'Of the store that is shared with other processes.',
}
const objects = listOf({ type: 'object' })
const question = 'What you want to know'
const otherName = { ...TEXT, minLength: 1, description: `${question}, for clients that call it so.` }
const none = { type: 'null' }
const textOrNone = { type: ['string', 'null'] }
const stopText = { ...TEXT, minLength: 1, maxLength: MAX_STOP_LENGTH }
const textPart = objectOf('type! text!', { type: { const: 'text' } })

const schemas: DocumentPart = {
  Query: {
    type: 'object',
    description: 'One of `query`, `message`, `prompt`, `input` and `messages`, and what belongs to it.',
    ...optionsOf('query message prompt input messages session_id metadata stream', {
      query: { ...TEXT, minLength: 1, description: `${question}.` },
      message: otherName,
      prompt: otherName,
      input: otherName,
      messages: described({
        ...listOf(objectOf('role! content!', {
          role: { enum: ['user', 'assistant', 'system', 'developer'] },
          content: { oneOf: [TEXT, listOf(textPart)] },
        })),
        minItems: 1,
      }, 'A whole conversation: the last user message is the query.'),
      session_id: { ...TEXT, pattern: CONVERSATION_ID.source, description: 'Goes on with a conversation.' },
      metadata: described(anything, 'Handed to the agent as it is.'),
      stream: { type: 'boolean', description: 'Answer with events.' },
    }),
  },
  UIChat: objectOf('messages! id tools', {
    id: described(TEXT, 'The chat, which is the conversation.'),
    messages: described({
      ...listOf(objectOf('role! parts!', {
        role: { enum: ['user', 'assistant', 'system'] }, parts: objects,
      })),
      minItems: 1,
    }, 'The whole chat: its last user message is answered.'),
    tools: described(objects, 'What the client runs itself, each with `name` and `parameters`.'),
  }),
  RunAgentInput: objectOf('threadId! runId! messages! tools state context forwardedProps resume', {
    threadId: { ...TEXT, minLength: 1, description: 'The conversation.' },
    messages: described(listOf(objectOf('id! role! content toolCalls toolCallId', {
      role: described(TEXT, '`user`, `assistant`, `system`, `developer` or `tool`; others are passed over.'),
      content: { oneOf: [TEXT, objects] },
      toolCalls: objects,
    })), 'The whole thread: its last user message is answered. Without one the agent begins.'),
    tools: described(objects, 'What the client runs itself, each with `name` and `parameters`.'),
    state: { description: 'Handed to the agent as it is, as are `context` and `forwardedProps`.' },
    context: {},
    forwardedProps: {},
    resume: described(objects, 'Answers to the interrupts of the run before.'),
  }),
  Reply: objectOf(
    'response! agent! query! session_id! request_id! data content state results final_response usage:Usage', {
      response: described(TEXT, 'What the agent said.'),
      session_id: described(TEXT, 'Send it with the next query to go on.'),
      data: { description: 'Structured output, where the agent gives some.' },
      content: described(listOf('Content'), 'What there is besides text.'),
      state: { enum: ['input-required', 'auth-required'], description: 'The agent wants to hear more.' },
      results: described(
        listOf(objectOf('agent! response error')), 'What each agent of a group said, or why it failed.',
      ),
      final_response: described(TEXT, 'The reply of a group; the same as `response`.'),
    },
  ),
  Usage: described(
    objectOf('input_tokens!:count output_tokens!:count cached_input_tokens:count reasoning_tokens:count'),
    'Tokens, where the code counts them; those of the cache are input, those of the reasoning output.',
  ),
  Content: objectOf('type! text data mimeType resource uri name', {
    type: { enum: ['text', 'image', 'audio', 'resource', 'resource_link', 'data'] },
    data: { description: 'Base64 of an image or a sound, or a JSON value.' },
    resource: objectOf('uri! mimeType text blob'),
  }),
  Agent: objectOf('id! name! description! skills', {
    skills: listOf(objectOf('id! name! description! tags:string[] examples:string[]')),
  }),
  Agents: objectOf('agents!:Agent[]'),
  Conversations: objectOf('conversations! next_cursor', {
    conversations: listOf(objectOf('session_id! messages!:count preview!', {
      preview: described(TEXT, 'The beginning of its first message.'),
    })),
    next_cursor: described(TEXT, 'Asks for the next page; absent at the end.'),
  }),
  Conversation: objectOf('session_id! messages!', {
    messages: listOf(objectOf('role! content!', { role: { enum: ['user', 'assistant', 'system'] } })),
  }),
  Tool: objectOf(`name! ${shown} inputSchema! outputSchema annotations:object`, {
    inputSchema: described(anything, 'JSON Schema of the arguments.'),
    outputSchema: described(anything, 'JSON Schema of the result.'),
  }),
  Tools: objectOf('tools!:Tool[]'),
  Resource: objectOf(`uri! name! ${shown} mimeType size:count annotations:object`),
  ResourceTemplate: objectOf(`uriTemplate! name! ${shown} mimeType annotations:object`),
  Resources: objectOf('resources!:Resource[] resourceTemplates!:ResourceTemplate[]'),
  Prompt: objectOf(`name! ${shown} arguments!`, {
    arguments: listOf(objectOf('name! title description required:boolean')),
  }),
  Prompts: objectOf('prompts!:Prompt[]'),
  PromptMessages: objectOf('description messages!', {
    messages: listOf(objectOf('role! content!:Content', { role: { enum: ['user', 'assistant'] } })),
  }),
  Skill: objectOf('name! description! path! uri! frontmatter! resources!', {
    frontmatter: { type: 'object' },
    resources: listOf(objectOf('uri! digest! size!:integer')),
  }),
  Skills: objectOf('skills!:Skill[]'),
  Welcome: objectOf('message! endpoints!:string[] docs! query'),
  Health: objectOf('status! endpoints!:string[] name! version! store', { status: { const: 'ok' }, store }),
  Ready: objectOf('status! store', { status: { const: 'ready' }, store }),
  Problem: described(
    objectOf('type! title! status!:integer detail! error! request_id! errors', {
      errors: listOf(objectOf('path! message!')),
    }),
    'RFC 9457. `detail` and `error` are the same sentence; further members say more.',
  ),
  ChatRequest: objectOf('model! messages! stream:boolean stream_options stop metadata tools '
    + 'response_format', {
    model: described(TEXT, 'The id of an agent or a group.'),
    messages: {
      type: 'array',
      minItems: 1,
      description: 'The whole conversation: the last user message is answered.',
      items: objectOf('role! content tool_calls tool_call_id', {
        role: { enum: ['user', 'assistant', 'system', 'developer', 'tool', 'function'] },
        content: { description: 'A text, or a list of parts: `text`, `image_url`, `input_audio`, `file`.' },
        tool_calls: objects,
      }),
    },
    stream_options: optionsOf('include_usage:boolean'),
    stop: {
      anyOf: [stopText, { type: 'array', maxItems: MAX_STOPS, items: stopText }, none],
      description: 'The answer ends before whichever of these comes first.',
    },
    metadata: { type: 'object', description: 'Handed to the agent as it is.' },
    tools: described(objects, 'Functions that the client runs itself; tools of other types are passed over.'),
    response_format: { type: 'object', description: 'What the answer must be.' },
  }),
  ChatCompletion: objectOf('id! object! created! model! choices! usage!', {
    object: { const: 'chat.completion' },
    created: described({ type: 'integer' }, 'Seconds since 1970.'),
    choices: {
      type: 'array',
      description: 'One.',
      items: objectOf('index!:integer message! logprobs finish_reason!', {
        message: objectOf('role! content! reasoning_content refusal tool_calls', {
          role: { const: 'assistant' }, content: textOrNone, refusal: textOrNone, tool_calls: objects,
        }),
        logprobs: none,
        finish_reason: { enum: ['stop', 'tool_calls'] },
      }),
    },
    usage: {
      type: 'object',
      description: 'What the agent has counted; or estimates of a token for every four bytes, which '
        + '`estimated` says.',
      ...objectOf('prompt_tokens!:integer completion_tokens!:integer total_tokens!:integer estimated '
        + 'prompt_tokens_details completion_tokens_details', {
        estimated: { const: true },
        prompt_tokens_details: objectOf('cached_tokens:integer'),
        completion_tokens_details: objectOf('reasoning_tokens:integer'),
      }),
    },
  }),
  OpenAIModel: objectOf('id! object! created!:integer owned_by! name description', {
    object: { const: 'model' },
  }),
  OpenAIError: objectOf('error!', {
    error: objectOf('message! type! param! code!', { param: textOrNone, code: textOrNone }),
  }),
  ResponseRequest: objectOf('model! input! instructions previous_response_id stream:boolean store:boolean '
    + 'background:boolean generate:boolean tools text metadata', {
    model: described(TEXT, 'The id of an agent or a group.'),
    input: {
      description: 'A text, or a list of items: messages, calls of functions, their outputs, and references '
        + 'to items of responses. Of an empty one no agent is asked.',
    },
    generate: { type: 'boolean', description: 'false: no agent is asked, and the input is kept.' },
    previous_response_id: described(TEXT, 'Goes on with the conversation of this response.'),
    tools: described(objects, 'Functions that the client runs itself, also in a `namespace`; tools of other '
      + 'types are passed over.'),
    text: { type: 'object', description: '`format`: what the answer must be.' },
    metadata: { type: 'object', description: 'Handed to the agent as it is.' },
  }),
  CompactionRequest: objectOf('model! input previous_response_id', {
    model: described(TEXT, 'The id of an agent or a group.'),
    input: { description: 'A text, or a list of items, behind those of the response before.' },
    previous_response_id: described(TEXT, 'A response whose items belong to it.'),
  }),
  Compaction: objectOf('id! object! created_at!:integer output! usage!', {
    object: { const: 'response.compaction' }, output: objects, usage: {},
  }),
  Response: objectOf('id! object! status! model! output! error usage', {
    object: { const: 'response' },
    status: { enum: ['queued', 'in_progress', 'completed', 'failed', 'cancelled'] },
    output: objects,
    error: {},
    usage: {},
  }),
}

/** What operations of every protocol may refer to. */
export const ownComponents: Components = {
  schemas,
  responses: {
    Problem: body('What went wrong', 'Problem', PROBLEM_JSON),
    OpenAIError: body('What went wrong', 'OpenAIError'),
  },
}
