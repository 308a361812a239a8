/** The schemas that the operations of plain HTTP refer to. Spec: OpenAPI 3.1.1 §4.8.7. */
import { CONVERSATION_ID } from '../../floors/conversations/conversation-page.ts'
import { described, listOf, objectOf, optionsOf, TEXT } from '../../floors/openapi/openapi.ts'
import type { DocumentPart } from '../../floors/openapi/openapi.ts'
import type { Components } from '../../kernel/http/message/exchange.ts'

const anything: DocumentPart = { type: 'object' }
/** What tools, resources and prompts have in common. */
const shown = 'title description icons:object[] _meta:object'
const question = 'What you want to know'
const otherName = { ...TEXT, minLength: 1, description: `${question}, for clients that call it so.` }
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
}

export const httpComponents: Components = {
  schemas,
  tags: {
    HTTP: { description: 'Queries to agents and groups.', rank: 1 },
    Tools: { description: 'Tools, resources and prompts, one call each.', rank: 3 },
  },
}
