/** What the official clients of OpenAI and of Anthropic return, as an author's function returns it. */
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const folder = import.meta.url
const skip = missing(folder, 'openai', 'anthropic', 'zod')
const { Anthropic, OpenAI, z, zodOutputFormat, zodResponseFormat, zodTextFormat } = skip ? {} : {
  ...await import('openai'), ...await import('anthropic'), ...await import('openai/helpers/zod'),
  ...await import('anthropic/helpers/zod'), ...await import('zod'),
}
const shape = skip || z.object({ city: z.string(), degrees: z.number() })
const without = {
  questions: 'a client runs no tools that could ask', tools: 'a client runs no tools',
}
const messages = ({ history }, content) => [...history, { role: 'user', content }]

/** What comes as a picture, with the text before it. */
const parts = ({ message }, prompt, text, image) => {
  const images = message.filter(({ type }) => type === 'image').map(image)
  return images.length === 0 ? prompt : [text(prompt), ...images]
}
const url = ({ mimeType, data }) => `data:${mimeType};base64,${data}`
const inChat = (call, prompt) => messages(call, parts(call, prompt,
  (text) => ({ type: 'text', text }), (image) => ({ type: 'image_url', image_url: { url: url(image) } })))
const inResponse = (call, prompt) => messages(call, parts(call, prompt,
  (text) => ({ type: 'input_text', text }), (image) => ({ type: 'input_image', image_url: url(image) })))
const model = 'gpt-4o'
const openai = (baseURL, write) => {
  const client = new OpenAI({ apiKey: 'sk-1', baseURL, maxRetries: 0 })
  return { client, write: (prompt, call) => write(client, prompt, call, { signal: call.signal }) }
}
const streamOptions = { stream: true, stream_options: { include_usage: true } }

matrix({
  framework: 'OpenAI\'s client (chat)', version: versionOf(folder, 'openai'), skip, without,
  agents: {
    plain: (at) => openai(at, ({ chat }, prompt, call, options) => (
      chat.completions.create({ model, messages: inChat(call, prompt), ...streamOptions }, options)
    )),
    data: (at) => openai(at, ({ chat }, prompt, call, options) => chat.completions.parse({
      model, messages: inChat(call, prompt), response_format: zodResponseFormat(shape, 'weather'),
    }, options)),
  },
  returns: {
    'create()': ({ client: { chat } }, prompt, call) => (
      chat.completions.create({ model, messages: inChat(call, prompt) }, { signal: call.signal })
    ),
    'stream()': ({ client: { chat } }, prompt, call) => (
      chat.completions.stream({ model, messages: inChat(call, prompt) }, { signal: call.signal })
    ),
    'runTools()': ({ client: { chat } }, prompt, call) => (
      chat.completions.runTools({ model, messages: inChat(call, prompt), tools: [] }, { signal: call.signal })
    ),
  },
})

matrix({
  framework: 'OpenAI\'s client (responses)', version: versionOf(folder, 'openai'), skip, without,
  agents: {
    plain: (at) => openai(at, ({ responses }, prompt, call, options) => (
      responses.create({ model, input: inResponse(call, prompt), stream: true }, options)
    )),
    data: (at) => openai(at, ({ responses }, prompt, call, options) => responses.parse({
      model, input: inResponse(call, prompt), text: { format: zodTextFormat(shape, 'weather') },
    }, options)),
  },
  returns: {
    'create()': ({ client: { responses } }, prompt, call) => (
      responses.create({ model, input: inResponse(call, prompt) }, { signal: call.signal })
    ),
    'stream()': ({ client: { responses } }, prompt, call) => (
      responses.stream({ model, input: inResponse(call, prompt) }, { signal: call.signal })
    ),
  },
})

const anthropic = (baseURL, write) => {
  const client = new Anthropic({ apiKey: 'sk-1', baseURL: baseURL.replace(/\/v1$/, ''), maxRetries: 0 })
  return { client, write: (prompt, call) => write(client, prompt, call, { signal: call.signal }) }
}
const request = (call, prompt) => {
  const all = messages(call, parts(call, prompt, (text) => ({ type: 'text', text }), (image) => ({
    type: 'image', source: { type: 'base64', media_type: image.mimeType, data: image.data },
  })))
  const system = all.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n')
  return {
    model: 'claude-sonnet-4-5', max_tokens: 1_000, ...system && { system },
    messages: all.filter(({ role }) => role !== 'system'),
  }
}

matrix({
  framework: 'Anthropic\'s client', version: versionOf(folder, 'anthropic'), skip, without,
  agents: {
    plain: (at) => anthropic(at, (client, prompt, call, options) => (
      client.messages.create({ ...request(call, prompt), stream: true }, options)
    )),
    data: (at) => anthropic(at, (client, prompt, call, options) => client.messages.parse({
      ...request(call, prompt), output_config: { format: zodOutputFormat(shape) },
    }, options)),
  },
  returns: {
    'create()': ({ client }, prompt, call) => (
      client.messages.create(request(call, prompt), { signal: call.signal })
    ),
    'stream()': ({ client }, prompt, call) => (
      client.messages.stream(request(call, prompt), { signal: call.signal })
    ),
    'toolRunner()': ({ client }, prompt, call) => (
      client.beta.messages.toolRunner({ ...request(call, prompt), tools: [] }, { signal: call.signal })
    ),
  },
})

guideProgram(folder, 'openai', { skip })
