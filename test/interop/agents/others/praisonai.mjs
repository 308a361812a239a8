/** Agents of PraisonAI: one text in, one text out, and prints beside it. Needs `npm ci` here. */
import { matrix, missing, versionOf } from '../matrix.mjs'

const skip = missing(import.meta.url, 'praisonai')

// The address of its model is read when it is imported.
async function agent(url, options) {
  Object.assign(process.env, { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: url })
  const { Agent } = await import('praisonai')
  return new Agent({ name: 'helper', instructions: 'Help.', verbose: false, ...options })
}

matrix({
  framework: 'PraisonAI', version: versionOf(import.meta.url, 'praisonai'), skip,
  agents: { plain: (url) => agent(url) },
  without: {
    stream: 'it prints its pieces to standard output, and gives them to nobody',
    history: 'it takes one text: earlier messages stand in that',
    abort: 'it takes no signal',
    files: 'it takes one text',
    usage: 'it does not say it',
  },
  returns: { 'chat()': (one, prompt) => one.chat(prompt), 'start()': (one, prompt) => one.start(prompt) },
})
