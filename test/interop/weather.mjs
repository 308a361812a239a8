/**
 * The agent that every client is tried with. No test itself. It thinks, has the weather of a city told by the
 * tool of the client, else by its own, and says it in two pieces, with how often it was asked before. `ask`
 * has it ask for the city, and `break` breaks it.
 */
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

/** The tool: what a client offers, or a server. */
export const tool = {
  name: 'weather', description: 'Tells the weather.', inputSchema: schema,
  run: ({ city }) => `sunny in ${city}`,
}

export const THOUGHT = 'Let me see.'
export const QUESTION = 'Which city?'
/** What no client may see. */
export const SECRET = 'a secret of the inside'

export const agent = {
  name: 'Forecaster',
  description: 'Tells the weather of a city.',
  async* run(prompt, call) {
    if (prompt === 'break') throw new Error(SECRET)
    const city = prompt === 'ask' ? (await call.elicit({ message: QUESTION, schema })).content.city : prompt
    const { clientTools: [ofClient], clientToolResults: [done], history } = call
    call.event({ type: 'reasoning', text: THOUGHT })
    if (ofClient !== undefined && done === undefined) {
      yield { toolCalls: [{ name: ofClient.name, args: { city } }] }
      return
    }
    if (done === undefined) {
      call.event({ type: 'tool-call', id: 'c1', name: tool.name, args: { city } })
      call.event({ type: 'tool-result', id: 'c1', result: tool.run({ city }) })
    }
    yield `${history.filter(({ role }) => role === 'user').length} before; `
    yield done === undefined ? tool.run({ city }) : done.result
  },
}
