/**
 * What `triport serve served.mjs --stdio` serves to the tests of stdio: plain objects, as an author with a
 * module and no imports would write them. No test itself.
 */
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

const agent = {
  name: 'Echo',
  description: 'Says what it is told.',
  run: (prompt) => prompt,
}

const tools = [
  { name: 'echo', description: 'Says what it is told.', inputSchema: text, run: ({ text }) => text },
  {
    name: 'noisy',
    description: 'Writes to standard output, as old code does.',
    run() {
      console.log('this would break a client that reads lines')
      return 'quiet'
    },
  },
  {
    name: 'test_tool_with_progress',
    description: 'Tells how far it is.',
    async run(_args, call) {
      for (const done of [0, 50, 100]) {
        call.progress(done, 100)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      return 'Done.'
    },
  },
  {
    name: 'test_elicitation',
    description: 'Asks the person behind the client.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    async run({ message }, call) {
      const schema = { type: 'object', properties: { username: { type: 'string' } }, required: ['username'] }
      const { action, content } = await call.elicit({ message, schema })
      return `User response: ${content === undefined ? action : JSON.stringify(content)}`
    },
  },
]

export default { agents: [agent], tools }
