/** The types of agents of further frameworks. Needs `npm ci` here, and a build at the root. */
import { compiles } from '../compile.mjs'
import { missing } from '../matrix.mjs'

compiles(import.meta.url, { skip: missing(import.meta.url, '@google/adk', 'genkit', '@llamaindex/workflow') })
