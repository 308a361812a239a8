import assert from 'node:assert/strict'
import test from 'node:test'
import { usualBounds } from '../../../lib/floors/bounds/parse-json.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { decodeChat } from '../../../lib/parts/openai/chat-request.ts'
import { PassedOver } from '../../../lib/floors/chat/passed-over.ts'
import type { ChatRequest } from '../../../lib/parts/openai/chat-request.ts'

const user = { role: 'user', content: 'Hi' }
const png = 'data:image/png;base64,AAAA'

/** An assistant's message with one call. */
function asked(written: string, content: string | null = null): object {
  const call = { id: 'c', type: 'function', function: { name: 'find', arguments: written } }
  return { role: 'assistant', content, tool_calls: [call] }
}

const found = { role: 'tool', tool_call_id: 'c', content: [part('text', 'Green tea')] }
const find = { name: 'find', description: 'Finds.', parameters: { type: 'object' } }

function part(type: string, value: unknown): object {
  return { type, [type]: value }
}

function ofParts(...content: readonly unknown[]): object {
  return { messages: [{ role: 'user', content }] }
}

const understood: readonly (readonly [what: string, members: object, read: Partial<ChatRequest>])[] = [
  ['one message', {}, {
    model: 'echo', prompt: 'Hi', message: [{ type: 'text', text: 'Hi' }], history: [], metadata: undefined,
    isStream: false, includesUsage: false,
  }],
  ['null for what is left out', { stream: null, stream_options: null, metadata: null, n: null, tools: null },
    { isStream: false, includesUsage: false }],
  ['what is said of a model', { temperature: 2, top_p: 1, max_tokens: 5, stop: null, seed: 1, user: 'u', n: 1,
    tools: [], functions: [], tool_choice: 'none', function_call: 'auto', response_format: { type: 'text' },
    logprobs: false, top_logprobs: 0, modalities: ['text'], audio: null, made_up: true },
  { prompt: 'Hi' }],
  ['a stream with usage', { stream: true, stream_options: { include_usage: true } },
    { isStream: true, includesUsage: true }],
  ['an end', { stop: 'END' }, { stops: ['END'] }],
  ['several ends', { stop: ['END', '\n'] }, { stops: ['END', '\n'] }],
  ['metadata', { metadata: { a: 'b' } }, { metadata: { a: 'b' } }],
  ['a whole chat', { messages: [
    { role: 'system', content: 'Be brief.' }, { role: 'developer', content: [part('text', 'In English.')] },
    { role: 'user', content: 'One', name: 'ann' }, { role: 'assistant', content: 'Two' }, user,
    { role: 'assistant', content: 'So' },
  ] }, { prompt: 'Hi', history: [
    { role: 'system', content: 'Be brief.' }, { role: 'system', content: 'In English.' },
    { role: 'user', content: 'One' }, { role: 'assistant', content: 'Two' },
    { role: 'assistant', content: 'So' },
  ] }],
  ['an answer without words, and one that was refused', { messages: [
    { role: 'assistant', content: null }, { role: 'assistant', refusal: 'No.', tool_calls: [] },
    { role: 'assistant', content: [part('refusal', 'Never.')] }, user,
  ] }, { history: ['', 'No.', 'Never.'].map((content) => ({ role: 'assistant', content })) }],
  ['instructions alone, with which the agent begins', { messages: [
    { role: 'system', content: 'Greet.' }, { role: 'developer', content: 'In English.' },
  ] }, { prompt: '', message: [], history: [
    { role: 'system', content: 'Greet.' }, { role: 'system', content: 'In English.' },
  ] }],
  ['results without a user message', { messages: [asked('{}'), found] }, {
    prompt: '', message: [], history: [],
    clientToolResults: [{ id: 'c', name: 'find', args: {}, result: 'Green tea' }],
  }],
  ['content that is null, which is empty', { messages: [
    { role: 'user', content: null }, { role: 'system', content: null }, asked('{}'),
    { ...found, content: null }, user, asked('{}'),
    { ...found, content: [{ type: 'text', text: null }, part('text', 'So')] },
  ] }, { prompt: 'Hi', clientToolResults: [{ id: 'c', name: 'find', args: {}, result: 'So' }] }],
  ['files of earlier messages, which are left out', { messages: [
    { role: 'user', content: [part('text', 'See'), part('image_url', { url: png }), part('text', 'this')] },
    user,
  ] }, { history: [{ role: 'user', content: 'See\nthis' }] }],
  ['tools of the client', {
    tools: [{ type: 'function', function: find }, { type: 'function', function: { name: 'now' } }],
    tool_choice: 'auto', parallel_tool_calls: true,
  }, { clientTools: [
    { name: 'find', description: 'Finds.', inputSchema: { type: 'object' } },
    { name: 'now', inputSchema: { type: 'object', properties: {} } },
  ] }],
  ['tools of other servers', {
    tools: [
      { type: 'web_search' }, { type: 'function', function: { name: 'now' } },
      { type: 'custom', custom: { name: 'patch' } }, { type: 'namespace', name: 'n', tools: [] },
    ],
  }, { clientTools: [{ name: 'now', inputSchema: { type: 'object', properties: {} } }] }],
  ['a result of a tool', { messages: [user, asked('{"of":"tea"}'), found] }, {
    prompt: 'Hi', history: [],
    clientToolResults: [{ id: 'c', name: 'find', args: { of: 'tea' }, result: 'Green tea' }],
  }],
  ['a result of before', { messages: [user, asked('{"of":"tea"}', 'Let me see.'), found, user] }, {
    history: [
      { role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Let me see.\nfind({"of":"tea"})' },
      { role: 'assistant', content: 'find returned: Green tea' },
    ],
    clientToolResults: [],
  }],
  ['arguments that are no object, which stay text', { messages: [
    ...['{"of":"te', '"tea"', '[]', 'null', '', ' '].map((written) => asked(written)), user,
  ] }, { history: ['{"of":"te', '"tea"', '[]', '{}', '{}', '{}'].map((written) => (
    { role: 'assistant', content: `find(${written})` }
  )) }],
  ['results of no call, which stay text', { messages: [
    { role: 'tool', tool_call_id: 'c', content: '1' }, { role: 'tool', name: 'find', content: '2' }, user,
    { role: 'tool', tool_call_id: 'c', content: '3' },
  ] }, {
    history: ['A tool returned: 1', 'find returned: 2', 'A tool returned: 3'].map((content) => (
      { role: 'assistant', content }
    )),
    clientToolResults: [],
  }],
  ['two results of one call, of which the last counts', { messages: [
    user, asked('{"of'), found, { ...found, content: 'Black tea' },
  ] }, { clientToolResults: [{ id: 'c', name: 'find', args: {}, result: 'Black tea' }] }],
  ['two calls with one id', { messages: [user, asked('{"a":1}'), found, asked('{"a":2}'), found] }, {
    clientToolResults: [1, 2].map((a) => ({ id: 'c', name: 'find', args: { a }, result: 'Green tea' })),
  }],
  ['calls of tools of another type', { messages: [
    { role: 'assistant', content: 'a', tool_calls: [{ id: 'w', type: 'web_search', web_search: {} }] },
    { role: 'tool', tool_call_id: 'w', content: '1' }, user,
    { role: 'assistant', tool_calls: [
      { type: 'of_tomorrow' }, { id: 'c', type: 'function', function: { name: 'find', arguments: '{}' } },
    ] }, found,
  ] }, {
    history: ['a', 'A tool returned: 1'].map((content) => ({ role: 'assistant', content })),
    clientToolResults: [{ id: 'c', name: 'find', args: {}, result: 'Green tea' }],
  }],
  ['tools with any arguments, and with none', {
    tools: [true, {}, null, false].map((parameters, index) => (
      { type: 'function', function: { name: `f${index}`, parameters } }
    )),
  }, { clientTools: [{}, {}, {}, { additionalProperties: false }].map((more, index) => (
    { name: `f${index}`, inputSchema: { type: 'object', properties: {}, ...more } }
  )) }],
  ['a picture that is text', ofParts(part('image_url', { url: 'data:image/svg+xml;utf8,<svg id="%23"/>' })), {
    message: [{
      type: 'image', data: Buffer.from('<svg id="#"/>').toString('base64'), mimeType: 'image/svg+xml',
    }],
  }],
  ['several texts', ofParts(part('text', 'a'), part('text', 'b')), {
    prompt: 'a\nb', message: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }],
  }],
  ['a picture', ofParts(part('image_url', { url: png, detail: 'low' })), {
    prompt: '', message: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
  }],
  ['a picture by its address alone', ofParts(part('image_url', png)), {
    message: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
  }],
  ['parts as Responses has them', ofParts(
    { type: 'input_text', text: 'See' }, { type: 'input_image', image_url: png, file_id: 'file-1' },
    { type: 'input_file', file_url: 'https://example.com/a.pdf', filename: 'b.pdf' },
    { type: 'input_file', file_data: 'data:text/plain;base64,AAAA' },
  ), { prompt: 'See', message: [
    { type: 'text', text: 'See' }, { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'resource_link', uri: 'https://example.com/a.pdf', name: 'b.pdf' },
    { type: 'resource', resource: { uri: 'attachment:file', mimeType: 'text/plain', blob: 'AAAA' } },
  ] }],
  ['a picture that a tool has returned', { messages: [
    user, asked('{}'), { ...found, content: [part('text', 'This'), part('image_url', { url: png })] },
  ] }, {
    message: [{ type: 'text', text: 'Hi' }, { type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    clientToolResults: [{ id: 'c', name: 'find', args: {}, result: 'This' }],
  }],
  ['functions beside the same as tools', {
    functions: [{ name: 'now' }], tools: [{ type: 'function', function: { name: 'now' } }],
    function_call: { name: 'now' }, tool_choice: 'auto',
  }, { clientTools: [{ name: 'now', inputSchema: { type: 'object', properties: {} } }] }],
  ['calls and results of before there were tools', { messages: [
    { role: 'user', content: 'One' },
    { role: 'assistant', content: null, function_call: { name: 'find', arguments: '{"of":"tea"}' } },
    { role: 'function', name: 'find', content: 'Sencha' }, user,
    { role: 'assistant', content: null, function_call: { name: 'find', arguments: '{}' } },
    { role: 'function', name: 'find', content: 'Assam' },
  ] }, {
    history: [
      { role: 'user', content: 'One' }, { role: 'assistant', content: 'find({"of":"tea"})' },
      { role: 'assistant', content: 'find returned: Sencha' },
    ],
    clientToolResults: [{ id: 'find', name: 'find', args: {}, result: 'Assam' }],
  }],
  ['a call of a tool without a schema', { messages: [
    { role: 'assistant', content: null, tool_calls: [
      { id: 'c', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
    ] }, { role: 'tool', tool_call_id: 'c', content: 'Done.' }, user,
  ] }, { history: [
    { role: 'assistant', content: 'patch({"input":"*** Begin"})' },
    { role: 'assistant', content: 'patch returned: Done.' },
  ] }],
  ['a picture elsewhere', ofParts(part('image_url', { url: 'https://example.com/a/b.png?c' })), {
    message: [{ type: 'resource_link', uri: 'https://example.com/a/b.png?c', name: 'b.png' }],
  }],
  ['a picture at a root', ofParts(part('image_url', { url: 'https://example.com' })), {
    message: [{ type: 'resource_link', uri: 'https://example.com', name: 'image' }],
  }],
  ['a sound', ofParts(part('input_audio', { data: 'AAAA', format: 'mp3' })), {
    message: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/mpeg' }],
  }],
  ['a file', ofParts(part('file', { filename: 'a b.pdf', file_data: 'data:application/pdf;base64,AAAA' })), {
    message: [{
      type: 'resource',
      resource: { uri: 'attachment:a%20b.pdf', mimeType: 'application/pdf', blob: 'AAAA' },
    }],
  }],
  ['a file without a good name', ofParts(part('file', {
    filename: '\ud800', file_data: 'data:text/plain;charset=utf-8;base64,AAAA',
  })), { message: [{
    type: 'resource',
    resource: { uri: 'attachment:%EF%BF%BD', mimeType: 'text/plain', blob: 'AAAA' },
  }] }],
  ['a file as base64 alone', ofParts(part('file', { filename: 'a.bin', file_data: 'AA-_' })), { message: [{
    type: 'resource',
    resource: { uri: 'attachment:a.bin', mimeType: 'application/octet-stream', blob: 'AA+/' },
  }] }],
  ['a picture as a file', ofParts(part('file', { file_data: png })), {
    message: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
  }],
]

test('a chat is read: the last user message is asked, the others are its history', () => {
  for (const [what, members, read] of understood) {
    const body = { model: 'echo', messages: [user], ...members }
    const request: object = decodeChat(body, new PassedOver(), usualBounds)
    for (const [name, value] of Object.entries(read)) {
      assert.deepEqual(Reflect.get(request, name), value, `${what}: ${name}`)
    }
  }
})

const refused: readonly (readonly [
  what: string, members: unknown, param: string | undefined, sentence: RegExp,
])[] = [
  ['no object', 'hi', undefined, /must be a JSON object with "model" and "messages"/],
  ['no model', { model: undefined }, 'model', /id of an agent; the list of models has them/],
  ['an empty model', { model: '' }, 'model', /id of an agent/],
  ['no messages', { messages: undefined }, 'messages', /list of at least one/],
  ['an empty list', { messages: [] }, 'messages', /list of at least one/],
  ['an empty message', { messages: [{ role: 'user', content: ' ' }] }, 'messages[0].content', /is empty/],
  ['no parts', ofParts(), 'messages[0].content', /is empty/],
  ['no content', { messages: [{ role: 'user' }] }, 'messages[0].content', /a string or a list of parts/],
  ['a message that is none', { messages: [1, user] }, 'messages[0]', /must be an object/],
  ['earlier content that is none', { messages: [{ role: 'user', content: 1 }, user] },
    'messages[0].content', /a string/],
  ['an earlier part that is none', { messages: [{ role: 'user', content: [1] }, user] },
    'messages[0].content[0]', /must be an object/],
  ['a role of somebody else', { messages: [{ role: 'judge', content: '' }, user] }, 'messages[0].role',
    /user, assistant, system, developer or tool/],
  ['a call that is none', { messages: [{ role: 'assistant', tool_calls: [{}] }, user] },
    'messages[0].tool_calls[0].id', /a string/],
  ['a call without a name', { messages: [{ role: 'assistant', tool_calls: [{ id: 'c' }] }, user] },
    'messages[0].tool_calls[0].function.name', /a string/],
  ['a call of nothing',
    { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'function' }] }, user] },
    'messages[0].tool_calls[0].function.name', /a string/],
  ['a call without a result', { messages: [user, asked('{}')] }, 'messages[1].tool_calls[0]',
    /has no result; add \{ "role": "tool", "tool_call_id": "c" \}/],
  ['calls that are none', { messages: [{ role: 'assistant', tool_calls: 1 }, user] },
    'messages[0].tool_calls', /a list/],
  ['a tool that is none', { tools: ['find'] }, 'tools[0].type', /must be a string: "function" for/],
  ['a tool without a name', { tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name',
    /1 to 128/],
  ['a tool with a schema that is none',
    { tools: [{ type: 'function', function: { name: 'f', parameters: 1 } }] },
    'tools[0].function.parameters', /JSON Schema/],
  ['functions', { functions: [{ name: 'f' }] }, 'functions', /older form; write "tools"/],
  ['tools that are none', { tools: 'all' }, 'tools', /a list/],
  ['a function by name', { function_call: { name: 'f' } }, 'function_call', /"auto" or "none"/],
  ['a format that is none', { response_format: 'text' }, 'response_format.type', /text, json_object or/],
  ['a format without its schema', { response_format: { type: 'json_schema' } },
    'response_format.json_schema.schema',
    /an object/],
  ['a schema that is none', { response_format: { type: 'json_schema', json_schema: { schema: 1 } } },
    'response_format.json_schema.schema', /JSON Schema, an object/],
  ['a broken schema', { response_format: { type: 'json_schema', json_schema: { schema: { type: 'text' } } } },
    'response_format.json_schema.schema', /no JSON Schema that can be used: .*type/],
  ['a schema that is too much work', { response_format: { type: 'json_schema', json_schema: {
    schema: { type: 'string', pattern: 'a'.repeat(3_900_000) },
  } } }, 'response_format.json_schema.schema', /at \/pattern: from here on the schema takes too much work/],
  ['two answers', { n: 2 }, 'n', /must be 1/],
  ['a usage that may be', { stream_options: { include_usage: 'yes' } }, 'stream_options.include_usage',
    /must be true or false/],
  ['probabilities', { logprobs: true }, 'logprobs', /must be false.*no probabilities/],
  ['many probabilities', { top_logprobs: 3 }, 'top_logprobs', /must be 0/],
  ['a voice', { modalities: ['text', 'audio'] }, 'modalities', /must be \["text"\]/],
  ['the sound of a voice', { audio: { voice: 'ash', format: 'wav' } }, 'audio', /leave it out/],
  ['a check', { moderation: { model: 'm' } }, 'moderation', /nothing is moderated here; leave it out/],
  ['a search', { web_search_options: {} }, 'web_search_options', /by means of its own; leave it out/],
  ['a stream that may be', { stream: 'yes' }, 'stream', /true or false/],
  ['options that are none', { stream_options: true }, 'stream_options', /an object/],
  ['an end that is none', { stop: 1 }, 'stop', /a string of 1 to 1000 characters, or up to 4 of them/],
  ['an empty end', { stop: ['END', ''] }, 'stop', /1 to 1000 characters/],
  ['an end that is too long', { stop: 'x'.repeat(1_001) }, 'stop', /1 to 1000 characters/],
  ['too many ends', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', /up to 4/],
  ['metadata that is none', { metadata: 'a' }, 'metadata', /an object/],
  ['a part that is none', ofParts(1), 'messages[0].content[0].type', /text, image_url, input_audio or file/],
  ['an unknown part', ofParts(part('video_url', {})), 'messages[0].content[0].type',
    /must be text.*"video_url" would not be seen/],
  ['a part named like a method', ofParts({ type: 'toString' }), 'messages[0].content[0].type', /must be/],
  ['a text that is none', ofParts(part('text', 1)), 'messages[0].content[0].text', /a string/],
  ['no address', ofParts(part('image_url', {})), 'messages[0].content[0].image_url.url', /a string/],
  ['a file of this machine', ofParts(part('image_url', { url: 'file:///etc/passwd' })),
    'messages[0].content[0].image_url.url', /an http or https address, or a data URI with base64/],
  ['a text as a picture', ofParts(part('image_url', { url: 'data:text/plain;base64,AAAA' })),
    'messages[0].content[0].image_url.url', /a picture/],
  ['a picture with broken escapes', ofParts(part('image_url', { url: 'data:image/svg+xml,%3' })),
    'messages[0].content[0].image_url.url', /must hold base64/],
  ['a picture without an end of its head', ofParts(part('image_url', { url: 'data:image/png;base64' })),
    'messages[0].content[0].image_url.url', /must hold base64/],
  ['base64 that is none', ofParts(part('image_url', { url: 'data:image/png;base64,A*A=' })),
    'messages[0].content[0].image_url.url', /must hold base64/],
  ['what a tool has returned and nobody would see', { messages: [
    user, asked('{}'), { ...found, content: [part('video_url', {})] },
  ] }, 'messages[2].content[0].type', /"video_url" would not be seen/],
  ['an unknown sound', ofParts(part('input_audio', { data: 'AAAA', format: 'ogg' })),
    'messages[0].content[0].input_audio.format', /wav or mp3/],
  ['a sound of nothing', ofParts(part('input_audio', { data: '', format: 'wav' })),
    'messages[0].content[0].input_audio.data', /base64/],
  ['a file of nothing', ofParts(part('file', { file_data: '' })),
    'messages[0].content[0].file.file_data', /must be base64, or a data URI with base64/],
  ['a file that is kept elsewhere', ofParts(part('file', { file_id: 'file-1' })),
    'messages[0].content[0].file.file_data', /no files are kept here/],
]

test('what is wrong with a chat is told with the member that it is in', () => {
  for (const [what, members, param, sentence] of refused) {
    const body = typeof members === 'object' ? { model: 'echo', messages: [user], ...members } : members
    assert.throws(() => decodeChat(body, new PassedOver(), usualBounds), (error) => {
      assert.ok(error instanceof Fault, what)
      assert.equal(error.kind, 'invalid', what)
      assert.match(error.message, sentence, what)
      assert.equal((error.detail as { param?: string } | undefined)?.param, param, what)
      return true
    })
  }
})
