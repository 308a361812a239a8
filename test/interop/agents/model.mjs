/**
 * A model on a port, which answers what it is told to: no test itself. It speaks OpenAI's chat completions
 * and responses, Gemini's API and Anthropic's, whole and as streams, and keeps what it was asked.
 *
 * The last message of the user decides. Without a mark the model says `You said …`, word by word. Marks:
 * - `(NAME)` of a tool that is offered: calls it with `{"city":"Paris"}`, then says `The tool said …`;
 * - `(then)`: the tools behind it are called when those before have returned;
 * - `(slow)`: says two words and waits until its client leaves;
 * - `(500)`, `(429)`, `(401)`: that status;
 * - `(cut)`: ends the connection in the midst of the answer;
 * - `(broken)`: an error in the midst of a stream;
 * - `(think)`: thinks before it speaks.
 * Where a format or a tool is demanded, it gives `{"city":"Paris","degrees":21}`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { messagesDialect, ofMessages } from './model-anthropic.mjs'

/** What is in all texts of errors, and must reach nobody. */
export const SECRET = 'sk-the-secret-of-the-model'

const failure = { message: `No: ${SECRET}`, type: 'server_error', code: 'server_error' }

/** Tokens of one answer. */
export const TOKENS = { input: 11, output: 7 }

const DATA = '{"city":"Paris","degrees":21}'
const CITY = '{"city":"Paris"}'
const PATIENCE_MS = 60_000

/** Starts it. `requests` are those that came, oldest first. */
export async function startModel() {
  const requests = []
  const server = createServer(async (request, response) => {
    const body = []
    for await (const chunk of request) body.push(chunk)
    if (request.method !== 'POST') return response.writeHead(404).end('{}')
    const sent = JSON.parse(Buffer.concat(body))
    const [read, dialect] = request.url.endsWith('/chat/completions') ? [ofChat, chat]
      : /[gG]enerateContent/.test(request.url) ? [ofGemini, gemini]
      : /\/messages\b/.test(request.url) ? [ofMessages, anthropic] : [ofResponses, responses]
    const asked = { path: request.url, body: sent, ...read(sent) }
    asked.isStream = sent.stream === true || request.url.includes(':streamGenerateContent')
    // Whether its client has left before the answer was there.
    asked.hasLeft = new Promise((resolve) => {
      response.on('close', () => resolve(!response.writableEnded))
    })
    asked.number = requests.push(asked)
    try {
      await answer(asked, response, dialect)
    } catch (error) {
      console.error(error)
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    /** The request that came last. */
    get last() { return requests.at(-1) },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answer(asked, response, dialect) {
  const last = asked.messages.at(-1)
  const prompt = asked.messages.findLast(({ role }) => role === 'user')?.text ?? ''
  const marks = [...prompt.matchAll(/\((\w+)\)/g)].map(([, mark]) => mark)
  const status = marks.find((mark) => /^\d{3}$/.test(mark))
  if (status !== undefined) {
    response.writeHead(Number(status), { 'Content-Type': 'application/json' })
    return response.end(JSON.stringify({ error: dialect.failure?.(Number(status)) ?? failure }))
  }
  const isResult = last?.role === 'tool'
  const since = asked.messages.slice(asked.messages.findLastIndex(({ role }) => role === 'user'))
  const rounds = marks.join(' ').split(' then ')
    .map((names) => names.split(' ').filter((name) => asked.tools.includes(name)))
  let done = since.filter(({ role }) => role === 'tool').length
  while (done > 0 && rounds.length > 0) done -= rounds.shift().length
  const calls = (rounds[0] ?? [])
    .map((name, at) => ({ id: `call_${asked.messages.length}_${at}`, name, args: CITY }))
  if (calls.length === 0 && asked.demanded !== undefined) {
    calls.push({ id: `call_${asked.messages.length}`, name: asked.demanded, args: DATA })
  }
  const words = calls.length > 0 ? []
    : asked.isData ? [DATA]
      : marks.includes('slow') ? ['One ', 'two ']
        : wordsOf(isResult ? `The tool said ${last.text}.` : `You said ${prompt}.`)
  const thought = marks.includes('think') && !isResult ? 'Let me think.' : ''
  const out = asked.isStream ? dialect.stream(response, asked) : dialect.whole(response, asked)
  if (thought !== '') out.think(thought)
  for (const word of words) {
    out.say(word)
    await sleep(3)
    if (marks.includes('cut')) return response.destroy()
    if (marks.includes('broken')) return out.fail()
  }
  for (const call of calls) out.call(call)
  if (marks.includes('slow')) {
    await Promise.race([asked.hasLeft, sleep(PATIENCE_MS, undefined, { ref: false })])
    if (response.destroyed) return
  }
  out.end()
}

function wordsOf(text) {
  return text.match(/\S+\s*/g) ?? []
}

/** What a request of chat completions holds, in the words of none. */
function ofChat({ messages, tools = [], response_format: format, tool_choice: choice }) {
  return {
    messages: messages.map(({ role, content, tool_call_id: id }) => (
      { role: role === 'developer' ? 'system' : role, ...partsOf(content), ...id && { id } }
    )),
    tools: tools.map((tool) => tool.function.name),
    demanded: choice === 'required' ? tools[0].function.name : choice?.function?.name,
    isData: /^json_/.test(format?.type),
  }
}

/** What a request of responses holds, in the words of none. */
function ofResponses({ input, instructions, tools = [], text, tool_choice: choice }) {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const system = instructions ? [{ role: 'system', text: instructions, files: [] }] : []
  return {
    messages: [...system, ...items.flatMap(({ type, role, content, output, call_id: id }) => {
      if (type === 'function_call_output') return [{ role: 'tool', ...partsOf(output), id }]
      return role === undefined ? [] : [{ role: role === 'developer' ? 'system' : role, ...partsOf(content) }]
    })],
    tools: tools.flatMap(({ name }) => name ?? []),
    demanded: choice === 'required' ? tools[0].name : choice?.name,
    isData: /^json_/.test(text?.format?.type),
  }
}

/** The text of a content, and its files: each the address of an image or the data of a file. */
function partsOf(content) {
  if (typeof content === 'string' || content === null || content === undefined) {
    return { text: content ?? '', files: [] }
  }
  return {
    text: content.map(({ text }) => text ?? '').join(''),
    files: content.flatMap(({ image_url: image, file, file_data: data, input_audio: audio }) => (
      image?.url ?? image ?? file?.file_data ?? data ?? audio?.data ?? []
    )),
  }
}

const chat = {
  whole(response, { number, body: { model } }) {
    let content = ''
    let thought = ''
    const calls = []
    return {
      say: (word) => { content += word },
      think: (text) => { thought += text },
      call: ({ id, name, args }) => calls.push({ id, type: 'function', function: { name, arguments: args } }),
      fail: () => response.destroy(),
      end() {
        const message = {
          role: 'assistant', content: calls.length > 0 ? null : content,
          ...calls.length > 0 && { tool_calls: calls }, ...thought && { reasoning_content: thought },
        }
        const choice = { index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify({
          id: `chatcmpl-${number}`, object: 'chat.completion', created: 1, model, choices: [choice],
          usage: chatUsage,
        }))
      },
    }
  },
  stream(response, { number, body: { model, stream_options: options } }) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    const send = (choices, more) => response.write(`data: ${JSON.stringify({
      id: `chatcmpl-${number}`, object: 'chat.completion.chunk', created: 1, model, choices, ...more,
    })}\n\n`)
    const delta = (part, reason = null) => send([{ index: 0, delta: part, finish_reason: reason }])
    let calls = 0
    delta({ role: 'assistant', content: '' })
    return {
      say: (word) => delta({ content: word }),
      think: (text) => delta({ reasoning_content: text }),
      call({ id, name, args }) {
        delta({ tool_calls: [{ index: calls, id, type: 'function', function: { name, arguments: '' } }] })
        delta({ tool_calls: [{ index: calls++, function: { arguments: args } }] })
      },
      fail() {
        response.end(`data: ${JSON.stringify({ error: failure })}\n\n`)
      },
      end() {
        delta({}, calls > 0 ? 'tool_calls' : 'stop')
        if (options?.include_usage) send([], { usage: chatUsage })
        response.end('data: [DONE]\n\n')
      },
    }
  },
}

const chatUsage = {
  prompt_tokens: TOKENS.input, completion_tokens: TOKENS.output, total_tokens: TOKENS.input + TOKENS.output,
}

const responses = {
  whole(response, asked) {
    const output = outputOf(asked, () => {})
    return {
      ...output,
      fail: () => response.destroy(),
      end() {
        output.end()
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify(output.response('completed')))
      },
    }
  },
  stream(response, asked) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    let number = 0
    const send = (type, event) => response.write(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...event })}\n\n`,
    )
    const output = outputOf(asked, send)
    send('response.created', { response: output.response('in_progress') })
    return {
      ...output,
      fail() {
        send('error', { message: failure.message, code: failure.code, param: null })
        response.end()
      },
      end() {
        output.end()
        send('response.completed', { response: output.response('completed') })
        response.end()
      },
    }
  },
}

/** The items of a response as they grow; `send` gets each event. */
function outputOf({ number, body: { model, tools = [] } }, send) {
  const items = []
  let message
  const begin = (item) => {
    items.push(item)
    send('response.output_item.added', { output_index: items.length - 1, item: { ...item } })
    return items.length - 1
  }
  const at = () => ({ item_id: `msg_${number}`, output_index: items.indexOf(message), content_index: 0 })
  return {
    think(text) {
      const index = begin({ type: 'reasoning', id: `rs_${number}`, summary: [] })
      const place = { item_id: `rs_${number}`, output_index: index, summary_index: 0 }
      send('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } })
      send('response.reasoning_summary_text.delta', { ...place, delta: text })
      items[index].summary.push({ type: 'summary_text', text })
      send('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text } })
      send('response.output_item.done', { output_index: index, item: items[index] })
    },
    say(word) {
      if (message === undefined) {
        message = {
          type: 'message', id: `msg_${number}`, role: 'assistant', status: 'in_progress', content: [],
        }
        begin(message)
        message.content.push({ type: 'output_text', text: '', annotations: [], logprobs: [] })
        send('response.content_part.added', { ...at(), part: { ...message.content[0] } })
      }
      message.content[0].text += word
      send('response.output_text.delta', { ...at(), delta: word, logprobs: [] })
    },
    call({ id, name, args }) {
      const item = { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: '' }
      const index = begin(item)
      const place = { item_id: item.id, output_index: index }
      send('response.function_call_arguments.delta', { ...place, delta: args })
      Object.assign(item, { arguments: args, status: 'completed' })
      send('response.function_call_arguments.done', { ...place, arguments: args, name })
      send('response.output_item.done', { output_index: index, item })
    },
    end() {
      if (message === undefined) return
      message.status = 'completed'
      const [part] = message.content
      send('response.output_text.done', { ...at(), text: part.text, logprobs: [] })
      send('response.content_part.done', { ...at(), part })
      send('response.output_item.done', { output_index: items.indexOf(message), item: message })
    },
    response: (status) => ({
      id: `resp_${number}`, object: 'response', created_at: 1, status, model, output: items, error: null,
      incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true, temperature: 1,
      top_p: 1, tool_choice: 'auto', tools,
      usage: status === 'completed' ? {
        input_tokens: TOKENS.input, input_tokens_details: { cached_tokens: 0 },
        output_tokens: TOKENS.output, output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: TOKENS.input + TOKENS.output,
      } : null,
    }),
  }
}

/** What a request of Gemini's holds, in the words of none. */
function ofGemini({ contents, systemInstruction, tools = [], generationConfig }) {
  const messages = contents.map(({ role, parts }) => {
    const result = parts.find(({ functionResponse }) => functionResponse !== undefined)
    if (result !== undefined) {
      const { id, response } = result.functionResponse
      return { role: 'tool', id, text: JSON.stringify(response), files: [] }
    }
    return {
      role: role === 'model' ? 'assistant' : role,
      text: parts.map(({ text }) => text ?? '').join(''),
      files: parts.flatMap(({ inlineData, fileData }) => (
        inlineData ? `data:${inlineData.mimeType};base64,${inlineData.data}` : fileData?.fileUri ?? []
      )),
    }
  })
  const system = systemInstruction === undefined ? []
    : [{ role: 'system', text: systemInstruction.parts.map(({ text }) => text).join(''), files: [] }]
  return {
    messages: [...system, ...messages],
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    demanded: undefined,
    isData: generationConfig?.responseMimeType === 'application/json',
  }
}

const gemini = {
  failure: (code) => ({ code, message: failure.message, status: 'UNAVAILABLE' }),
  whole(response) {
    const parts = []
    return {
      ...partsInto((part) => parts.push(part)),
      fail: () => response.destroy(),
      end() {
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify(candidate(parts, true)))
      },
    }
  },
  stream(response) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    const send = (parts, isLast) => {
      response.write(`data: ${JSON.stringify(candidate(parts, isLast))}\r\n\r\n`)
    }
    return {
      ...partsInto((part) => send([part], false)),
      async fail() {
        // Its client knows an error by a piece that is nothing else.
        await sleep(50)
        response.end(`${JSON.stringify({ error: gemini.failure(500) })}\n\n`)
      },
      end() {
        send([{ text: '' }], true)
        response.end()
      },
    }
  },
}

const anthropic = messagesDialect(TOKENS, failure.message)

const partsInto = (take) => ({
  say: (text) => take({ text }),
  think: (text) => take({ text, thought: true }),
  call: ({ name, args }) => take({ functionCall: { name, args: JSON.parse(args) } }),
})

function candidate(parts, isLast) {
  const one = { content: { role: 'model', parts }, index: 0, ...isLast && { finishReason: 'STOP' } }
  const usageMetadata = {
    promptTokenCount: TOKENS.input, candidatesTokenCount: TOKENS.output,
    totalTokenCount: TOKENS.input + TOKENS.output,
  }
  return { candidates: [one], ...isLast && { usageMetadata } }
}
