/** The types of agents of the AI SDK, Mastra and VoltAgent. Needs `npm ci` here, and a build at the root. */
import { compiles } from '../compile.mjs'
import { missing } from '../matrix.mjs'

const skip = missing(import.meta.url, 'ai', 'ai5', 'ai7', '@mastra/core', '@voltagent/core')

compiles(import.meta.url, { skip })
