/** Anthropic's API of the model of the tests (`model.mjs`): no test itself. */

/** What a request holds, in the words of none. */
export function ofMessages({ messages, system, tools = [], output_config: output, tool_choice: choice }) {
  const listed = (content) => typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const textOf = (content) => listed(content ?? '').map(({ text }) => text ?? '').join('')
  return {
    messages: [
      ...system ? [{ role: 'system', text: textOf(system), files: [] }] : [],
      ...messages.map(({ role, content }) => {
        const result = listed(content).find(({ type }) => type === 'tool_result')
        if (result !== undefined) {
          return { role: 'tool', id: result.tool_use_id, text: textOf(result.content), files: [] }
        }
        const files = listed(content).flatMap(({ source }) => (
          source ? `data:${source.media_type};base64,${source.data}` : []
        ))
        return { role, text: textOf(content), files }
      }),
    ],
    tools: tools.map(({ name }) => name),
    demanded: choice?.type === 'tool' ? choice.name : undefined,
    isData: output?.format?.type === 'json_schema',
  }
}

const kinds = { 401: 'authentication_error', 429: 'rate_limit_error', 500: 'api_error' }

/** The dialect; `tokens` are those of one answer, `failure` is the text of errors. */
export function messagesDialect(tokens, failure) {
  const error = (status) => ({ type: kinds[status] ?? 'api_error', message: failure })
  const head = ({ number, body: { model } }, content, reason, output) => ({
    id: `msg_${number}`, type: 'message', role: 'assistant', model, content, stop_reason: reason,
    stop_sequence: null, usage: { input_tokens: tokens.input, output_tokens: output },
  })
  const blockOf = { think: (thinking) => ({ type: 'thinking', thinking, signature: '' }) }
  const toolOf = ({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args) })
  return {
    failure: error,
    whole(response, asked) {
      const content = []
      let text = ''
      return {
        say: (word) => { text += word },
        think: (thought) => content.push(blockOf.think(thought)),
        call: (call) => content.push(toolOf(call)),
        fail: () => response.destroy(),
        end() {
          if (text !== '') content.push({ type: 'text', text })
          const isCall = content.some(({ type }) => type === 'tool_use')
          response.setHeader('Content-Type', 'application/json')
          response.end(JSON.stringify(head(asked, content, isCall ? 'tool_use' : 'end_turn', tokens.output)))
        },
      }
    },
    stream(response, asked) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      const send = (type, more) => {
        response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
      }
      let index = -1
      let open
      let isCall = false
      const close = () => {
        if (open !== undefined) send('content_block_stop', { index })
        open = undefined
      }
      const add = (kind, block, delta) => {
        if (open !== kind) {
          close()
          open = kind
          send('content_block_start', { index: ++index, content_block: block })
        }
        send('content_block_delta', { index, delta })
      }
      send('message_start', { message: head(asked, [], null, 1) })
      send('ping', {})
      return {
        say: (text) => add('text', { type: 'text', text: '' }, { type: 'text_delta', text }),
        think: (thinking) => add('thinking', blockOf.think(''), { type: 'thinking_delta', thinking }),
        call({ id, name, args }) {
          isCall = true
          const block = { type: 'tool_use', id, name, input: {} }
          add(id, block, { type: 'input_json_delta', partial_json: args })
        },
        fail() {
          send('error', { error: error(500) })
          response.end()
        },
        end() {
          close()
          const delta = { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null }
          send('message_delta', { delta, usage: { output_tokens: tokens.output } })
          send('message_stop', {})
          response.end()
        },
      }
    },
  }
}
